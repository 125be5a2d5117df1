// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: func.func @difference
// CHECK: %r = ckks.sub %x, %y : !ckks.ciphertext<level = 1, scale = 2**40>
// CHECK-NEXT: func.return %r : !ckks.ciphertext<level = 1, scale = 2**40>
// GENERIC: %r = "ckks.sub"(%x, %y) : (!ckks.ciphertext<level = 1, scale = 2**40>, !ckks.ciphertext<level = 1, scale = 2**40>) -> !ckks.ciphertext<level = 1, scale = 2**40>
func.func @difference(%x : !ckks.ciphertext<level = 1, scale = 2**40>, %y : !ckks.ciphertext<level = 1, scale = 2**40>) -> !ckks.ciphertext<level = 1, scale = 2**40> {
  %r = ckks.sub %x, %y : !ckks.ciphertext<level = 1, scale = 2**40>
  return %r : !ckks.ciphertext<level = 1, scale = 2**40>
}

// Two size-3 ciphertexts have a difference too.
// CHECK-LABEL: func.func @size3
// CHECK: ckks.sub %x, %x : !ckks.ciphertext<level = 0, scale = 2**80 / q1, size = 3>
func.func @size3(%x : !ckks.ciphertext<level = 0, scale = 2**80 / q1, size = 3>) -> !ckks.ciphertext<level = 0, scale = 2**80 / q1, size = 3> {
  %r = ckks.sub %x, %x : !ckks.ciphertext<level = 0, scale = 2**80 / q1, size = 3>
  return %r : !ckks.ciphertext<level = 0, scale = 2**80 / q1, size = 3>
}

// What one operand leaves open follows from the other.
// CHECK-LABEL: func.func @half_known
// CHECK: %r = ckks.sub %x, %y : !ckks.ciphertext<level = 2, scale = ?>, !ckks.ciphertext<level = ?, scale = 2**30>
// CHECK-NEXT: func.return %r : !ckks.ciphertext<level = 2, scale = 2**30>
func.func @half_known(%x : !ckks.ciphertext<level = 2>, %y : !ckks.ciphertext<scale = 2**30>) -> !ckks.ciphertext<level = 2, scale = 2**30> {
  %r = ckks.sub %x, %y : !ckks.ciphertext<level = 2>, !ckks.ciphertext<scale = 2**30>
  return %r : !ckks.ciphertext<level = 2, scale = 2**30>
}
