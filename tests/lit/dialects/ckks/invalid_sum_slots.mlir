// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: invalid_sum_slots.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.sum_slots: needs an integer property `count`, at least 1
func.func @f(%x : !ckks.ciphertext) {
  %r = ckks.sum_slots %x : !ckks.ciphertext
  return
}

// -----

// CHECK: invalid_sum_slots.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.sum_slots: needs an integer property `count`, at least 1
func.func @f(%x : !ckks.ciphertext) {
  %r = ckks.sum_slots %x {count = 0} : !ckks.ciphertext
  return
}

// -----

// CHECK: invalid_sum_slots.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.sum_slots: the operand must have size 2, found size 3; relinearize it first
func.func @f(%x : !ckks.ciphertext<size = 3>) {
  %r = ckks.sum_slots %x {count = 2} : !ckks.ciphertext<size = 3>
  return
}
