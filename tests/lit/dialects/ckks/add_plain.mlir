// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: func.func @f
// CHECK: %r = ckks.add_plain %x, %p : !ckks.ciphertext<level = 1, scale = 2**40>, !ckks.plaintext<level = 1, scale = 2**40>
// CHECK-NEXT: func.return %r : !ckks.ciphertext<level = 1, scale = 2**40>
// GENERIC: "ckks.add_plain"(%x, %p) : (!ckks.ciphertext<level = 1, scale = 2**40>, !ckks.plaintext<level = 1, scale = 2**40>) -> !ckks.ciphertext<level = 1, scale = 2**40>
func.func @f(%x : !ckks.ciphertext<level = 1, scale = 2**40>, %p : !ckks.plaintext<level = 1, scale = 2**40>) -> !ckks.ciphertext<level = 1, scale = 2**40> {
  %r = ckks.add_plain %x, %p : !ckks.ciphertext<level = 1, scale = 2**40>, !ckks.plaintext<level = 1, scale = 2**40>
  return %r : !ckks.ciphertext<level = 1, scale = 2**40>
}

// The size stays; what one operand leaves open follows from the other.
// CHECK-LABEL: func.func @half_known
// CHECK: func.return %r : !ckks.ciphertext<level = 1, scale = 2**40, size = 3>
func.func @half_known(%x : !ckks.ciphertext<scale = 2**40, size = 3>, %p : !ckks.plaintext<level = 1>) -> !ckks.ciphertext<level = 1, scale = 2**40, size = 3> {
  %r = ckks.add_plain %x, %p : !ckks.ciphertext<scale = 2**40, size = 3>, !ckks.plaintext<level = 1>
  return %r : !ckks.ciphertext<level = 1, scale = 2**40, size = 3>
}
