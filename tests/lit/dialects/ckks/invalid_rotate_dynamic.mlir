// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: invalid_rotate_dynamic.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.rotate_dynamic: the steps must be an index, found i32
func.func @f(%x : !ckks.ciphertext, %k : i32) {
  %r = ckks.rotate_dynamic %x, %k : !ckks.ciphertext, i32
  return
}

// -----

// CHECK: invalid_rotate_dynamic.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.rotate_dynamic: the operand must have size 2, found size 3; relinearize it first
func.func @f(%x : !ckks.ciphertext<size = 3>, %k : index) {
  %r = ckks.rotate_dynamic %x, %k : !ckks.ciphertext<size = 3>, index
  return
}
