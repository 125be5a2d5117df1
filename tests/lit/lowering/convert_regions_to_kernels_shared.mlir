// RUN: fhelium-opt %s -p convert-regions-to-kernels --remarks=applied 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err

!high = !rns.poly<16, q 1:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!high2 = !rns.poly<16, q 1:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
!e3 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 3)>
!e4 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 4)>
!c2 = !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 2)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {

resource.declare @rows3 "rows" {values = dense<[[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x16xi32>} : memref<2x16xi32>
resource.declare @high_rows "rows" {values = dense<[[1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<1x16xi32>} : memref<1x16xi32>
resource.declare @moduli "moduli" : memref<4x4xi64>
resource.declare @forward "twiddles" {direction = "forward"} : memref<4x16xi64>

// Limbs, levels and rows are data: equal ops on other limbs run the same kernel on another table and grid. Another
// interval is another shape.
// CHECK:     kernel.func @pointwise_0(
// CHECK:     kernel.func @pointwise_1(
// CHECK:     kernel.func @forward_0(
// CHECK:     kernel.func @forward_1(
// CHECK-NOT: kernel.func
// CHECK:     func.func @first(
// CHECK:       host.launch @pointwise_0 grid [1, 2](%rows3, %moduli, %x, %r)
// CHECK:       host.launch @pointwise_0 grid [1, 1](%high_rows, %moduli, %x, %s)
// CHECK:       host.launch @pointwise_1 grid [1, 2](%rows3, %moduli, %r, %t)
// CHECK-NOT:   host.launch
// REMARKS:      .mlir:[[# @LINE + 4]]:8: remark: [convert-regions-to-kernels] applied: 'fusion.region': lowered to pointwise_0
// REMARKS-NEXT: .mlir:[[# @LINE + 7]]:8: remark: [convert-regions-to-kernels] applied: 'fusion.region': lowered to pointwise_0
// REMARKS-NEXT: .mlir:[[# @LINE + 11]]:8: remark: [convert-regions-to-kernels] applied: 'fusion.region': lowered to pointwise_1
func.func @first(%x : !e) -> (!high2, !e3) {
  %r = fusion.region(%a = %x : !e) -> (!e2) attributes {resources = [@rows3, @moduli]} {
    %n = rns.negate %a : !e
    fusion.yield %n : !e2
  }
  %s = fusion.region(%a = %x : !e) -> (!high2) attributes {resources = [@high_rows, @moduli]} {
    %v = rns.restrict %a : !e -> !high
    %n = rns.negate %v : !high
    fusion.yield %n : !high2
  }
  %t = fusion.region(%a = %r : !e2) -> (!e3) attributes {resources = [@rows3, @moduli]} {
    %n = rns.negate %a : !e2
    fusion.yield %n : !e3
  }
  return %s, %t : !high2, !e3
}

// Two transforms of one shape in another function.
// CHECK:     func.func @second(
// CHECK:       host.launch @forward_0
// CHECK-NEXT:  host.launch @forward_1
// CHECK:       host.launch @forward_0
// CHECK-NEXT:  host.launch @forward_1
// REMARKS-NEXT: .mlir:[[# @LINE + 3]]:8: remark: [convert-regions-to-kernels] applied: 'fusion.region': lowered to forward_0, forward_1
// REMARKS-NEXT: .mlir:[[# @LINE + 6]]:8: remark: [convert-regions-to-kernels] applied: 'fusion.region': lowered to forward_0, forward_1
func.func @second(%x : !c2, %y : !c2) -> (!e4, !e4) {
  %r = fusion.region(%a = %x : !c2) -> (!e4) attributes {resources = [@rows3, @moduli, @forward]} {
    %f = ntt.forward %a {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[1, 1], [2]], rows = 1, columns = 2, warps = 1>} : !c2
    fusion.yield %f : !e4
  }
  %s = fusion.region(%a = %y : !c2) -> (!e4) attributes {resources = [@rows3, @moduli, @forward]} {
    %f = ntt.forward %a {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[1, 1], [2]], rows = 1, columns = 2, warps = 1>} : !c2
    fusion.yield %f : !e4
  }
  return %r, %s : !e4, !e4
}
}
