// RUN: fhelium-opt %s -p convert-regions-to-kernels | filecheck %s

!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
module attributes {kernel.tile = array<i64: 2, 8, 2>, rns.arithmetic = #rns.arithmetic<mont64>} {

resource.declare @rows3 "rows" {values = dense<[[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x16xi32>} : memref<2x16xi32>
resource.declare @moduli "moduli" : memref<4x4xi64>

// A stated tile: two rows by eight columns; rows beyond the last are masked off. The attribute has done its work.
// CHECK:       builtin.module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {
// CHECK-LABEL: kernel.func @pointwise_0(
// CHECK-SAME:    %count: i64{{.*}}) lanes [2, 8] grid 2 attributes {num_warps = 2 : i64} {
// CHECK:         [[VALID:%[0-9]+]] = arith.cmpi ult, {{%[0-9]+}}, %count : i64
// CHECK:         kernel.store {{%[0-9]+}}, %out0[{{%[0-9]+}}] mask [[VALID]]
// CHECK-LABEL: func.func @negate(
// CHECK:         %count = arith.constant 2 : i64
// CHECK-NEXT:    host.launch @pointwise_0 grid [2, 1](%rows3, %moduli, %count, %x, %r)
func.func @negate(%x : !e) -> !e2 {
  %r = fusion.region(%a = %x : !e) -> (!e2) attributes {resources = [@rows3, @moduli]} {
    %s = rns.negate %a : !e
    fusion.yield %s : !e2
  }
  return %r : !e2
}
}
