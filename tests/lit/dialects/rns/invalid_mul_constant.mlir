// RUN: not fhelium-opt %s --split-input-file > %t.out 2> %t.err
// RUN: filecheck %s < %t.err

// CHECK: invalid_mul_constant.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: rns.mul_constant: needs a property `constant`
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
  %r = rns.mul_constant %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_mul_constant.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: rns.mul_constant: q 1:2 is not invertible in q 0:2
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
  %r = rns.mul_constant %x {constant = #rns.constant<inverse q 1:2>} : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_mul_constant.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: Expected one of {{.*}}punctured_inverse
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
  %r = rns.mul_constant %x {constant = #rns.constant<half>} : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// CHECK-NOT: error:
