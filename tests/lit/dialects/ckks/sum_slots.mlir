// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// The facts of the operand stay.
// CHECK-LABEL: func.func @f
// CHECK: %s = ckks.sum_slots %x {count = 8 : i64} : !ckks.ciphertext<level = 1, scale = 2**40>
// CHECK-NEXT: func.return %s : !ckks.ciphertext<level = 1, scale = 2**40>
// GENERIC: "ckks.sum_slots"(%x) <{count = 8 : i64}> : (!ckks.ciphertext<level = 1, scale = 2**40>) -> !ckks.ciphertext<level = 1, scale = 2**40>
func.func @f(%x : !ckks.ciphertext<level = 1, scale = 2**40>) -> !ckks.ciphertext<level = 1, scale = 2**40> {
  %s = ckks.sum_slots %x {count = 8} : !ckks.ciphertext<level = 1, scale = 2**40>
  return %s : !ckks.ciphertext<level = 1, scale = 2**40>
}
