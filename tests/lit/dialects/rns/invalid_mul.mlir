// RUN: not fhelium-opt %s --split-input-file > %t.out 2> %t.err
// RUN: filecheck %s < %t.err

// CHECK: invalid_mul.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: rns.mul: a product needs the evaluation domain, the left operand is in the coefficient domain
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) -> (!rns.poly<8192, q 0:2, coefficient>) {
  %r = rns.mul %x, %x : !rns.poly<8192, q 0:2, coefficient>
  return %r : !rns.poly<8192, q 0:2, coefficient>
}

// -----

// CHECK: invalid_mul.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: rns.mul: a product needs the evaluation domain, the right operand is in the coefficient domain
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, %y : !rns.poly<8192, q 0:2, coefficient>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
  %r = rns.mul %x, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, !rns.poly<8192, q 0:2, coefficient>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_mul.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: rns.mul: the operands must have equal components: the left one has 1, the right one 2
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, %y : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
  %r = rns.mul %x, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_mul.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'rns.mul': the result's exponent does not follow from the operands
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>) {
  %r = rns.mul %x, %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)> -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
}

// -----

// CHECK: invalid_mul.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: rns.mul: the operand must be a !rns.poly, found i32
func.func @f(%x : i32) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
  %r = rns.mul %x, %x : i32
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// CHECK-NOT: error:
