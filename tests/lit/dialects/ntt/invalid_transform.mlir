// RUN: not fhelium-opt %s --split-input-file > %t.out 2> %t.err
// RUN: filecheck %s < %t.err

// CHECK: invalid_transform.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ntt.forward: the operand must be in the coefficient domain, it is in the evaluation domain
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
  %r = ntt.forward %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_transform.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ntt.inverse: the operand must be in the evaluation domain, it is in the coefficient domain
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) -> (!rns.poly<8192, q 0:2, coefficient>) {
  %r = ntt.inverse %x : !rns.poly<8192, q 0:2, coefficient>
  return %r : !rns.poly<8192, q 0:2, coefficient>
}

// -----

// CHECK: invalid_transform.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'ntt.forward': the operand is below 5q, the contract takes 4q
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient, mont64(e = 0, below = 5)>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 4)>) {
  %r = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !rns.poly<8192, q 0:2, coefficient, mont64(e = 0, below = 5)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 4)>
}

// -----

// CHECK: invalid_transform.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'ntt.forward': the schedule has 12 stages, ring degree 8192 needs 13
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) -> (!rns.poly<8192, q 0:2, evaluation(?)>) {
  %r = ntt.forward %x {schedule = #ntt.schedule<kernels = [[4, 4], [4]], rows = 1, columns = 8, warps = 4>} : !rns.poly<8192, q 0:2, coefficient>
  return %r : !rns.poly<8192, q 0:2, evaluation(?)>
}

// CHECK-NOT: error:
