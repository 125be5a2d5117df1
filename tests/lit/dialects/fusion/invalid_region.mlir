// RUN: not fhelium-opt %s --split-input-file > %t.out 2> %t.err
// RUN: filecheck %s < %t.err

// CHECK: invalid_region.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'fusion.region': the body must end with fusion.yield
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)> {
  %r = fusion.region(%a = %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
    "test.termop"() : () -> ()
  }
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_region.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'fusion.region': yielded values and results differ in type
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)> {
  %r = fusion.region(%a = %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>) {
    fusion.yield %a : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  }
  return %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_region.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: 'fusion.yield': %x is an argument of a block that does not dominate this use
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)> {
  %r = fusion.region() -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
    fusion.yield %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  }
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// -----

// The custom form cannot say this; the generic one can.
// CHECK: invalid_region.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'fusion.region': block arguments and operands differ in type
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
  "fusion.region"(%x) ({
  ^bb0(%a : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>):
    fusion.yield
  }) : (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> ()
  return
}

// CHECK-NOT: error:
