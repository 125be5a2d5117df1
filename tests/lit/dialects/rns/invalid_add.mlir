// RUN: not fhelium-opt %s --split-input-file > %t.out 2> %t.err
// RUN: filecheck %s < %t.err

// CHECK: invalid_add.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: rns.add: the operands must have equal exponent: the left one has 0, the right one 1
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 1)>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>) {
  %r = rns.add %x, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>, !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 1)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
}

// -----

// CHECK: invalid_add.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: rns.add: the operands must have equal basis: the left one has q 0:2, the right one q 0:1
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, %y : !rns.poly<8192, q 0:1, evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
  %r = rns.add %x, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, !rns.poly<8192, q 0:1, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_add.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: rns.add: the operands must have equal domain: the left one has evaluation, the right one coefficient
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, %y : !rns.poly<8192, q 0:2, coefficient>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
  %r = rns.add %x, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, !rns.poly<8192, q 0:2, coefficient>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_add.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'rns.add': the result's below does not follow from the operands
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>) {
  %r = rns.add %x, %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)> -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
}

// -----

// CHECK: invalid_add.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: rns.sub: the operands must have equal arithmetic: the left one has mont64, the right one mont32
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont32(e = 0, below = 2)>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 4)>) {
  %r = rns.sub %x, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>, !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont32(e = 0, below = 2)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 4)>
}

// CHECK-NOT: error:
