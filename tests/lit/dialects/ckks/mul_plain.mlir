// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: func.func @f
// CHECK: %r = ckks.mul_plain %x, %p : !ckks.ciphertext<level = 2, scale = 2**40, size = 3>, !ckks.plaintext<level = 2, scale = 2**20 / q2**2>
// CHECK-NEXT: func.return %r : !ckks.ciphertext<level = 2, scale = 2**60 / q2**2, size = 3>
// GENERIC: "ckks.mul_plain"(%x, %p) : (!ckks.ciphertext<level = 2, scale = 2**40, size = 3>, !ckks.plaintext<level = 2, scale = 2**20 / q2**2>) -> !ckks.ciphertext<level = 2, scale = 2**60 / q2**2, size = 3>
func.func @f(%x : !ckks.ciphertext<level = 2, scale = 2**40, size = 3>, %p : !ckks.plaintext<level = 2, scale = 2**20 / q2**2>) -> !ckks.ciphertext<level = 2, scale = 2**60 / q2**2, size = 3> {
  %r = ckks.mul_plain %x, %p : !ckks.ciphertext<level = 2, scale = 2**40, size = 3>, !ckks.plaintext<level = 2, scale = 2**20 / q2**2>
  return %r : !ckks.ciphertext<level = 2, scale = 2**60 / q2**2, size = 3>
}
