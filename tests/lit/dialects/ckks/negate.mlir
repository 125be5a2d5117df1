// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: func.func @f
// CHECK: %r = ckks.negate %x : !ckks.ciphertext<level = 1, scale = 2**40, size = 3>
// CHECK-NEXT: func.return %r : !ckks.ciphertext<level = 1, scale = 2**40, size = 3>
// GENERIC: "ckks.negate"(%x) : (!ckks.ciphertext<level = 1, scale = 2**40, size = 3>) -> !ckks.ciphertext<level = 1, scale = 2**40, size = 3>
func.func @f(%x : !ckks.ciphertext<level = 1, scale = 2**40, size = 3>) -> !ckks.ciphertext<level = 1, scale = 2**40, size = 3> {
  %r = ckks.negate %x : !ckks.ciphertext<level = 1, scale = 2**40, size = 3>
  return %r : !ckks.ciphertext<level = 1, scale = 2**40, size = 3>
}
