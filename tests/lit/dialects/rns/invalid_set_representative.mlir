// RUN: not fhelium-opt %s --split-input-file > %t.out 2> %t.err
// RUN: filecheck %s < %t.err

// CHECK: invalid_set_representative.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'rns.set_representative': the result's domain does not follow from the operands
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2, coefficient>) {
  %r = rns.set_representative %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)> -> !rns.poly<8192, q 0:2, coefficient>
  return %r : !rns.poly<8192, q 0:2, coefficient>
}

// -----

// CHECK: invalid_set_representative.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'rns.set_representative': the result's components does not follow from the operands
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>) {
  %r = rns.set_representative %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)> -> !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
}

// CHECK-NOT: error:
