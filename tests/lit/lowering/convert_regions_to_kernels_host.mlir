// RUN: fhelium-opt %s -p convert-regions-to-kernels | filecheck %s

!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
!e3 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 3)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {

resource.declare @rows3 "rows" {values = dense<[[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x16xi32>} : memref<2x16xi32>
resource.declare @moduli "moduli" : memref<4x4xi64>
resource.declare @key "plaintext" {values = dense<1.0> : tensor<1xf64>, level = 1 : i64, scale = "2/1"} : memref<1x2x16xi64>

// Resources are named once; planned results are views of the arena, results of the function are allocated. Names,
// argument attributes and the order of the results stay.
// CHECK-LABEL: func.func @host(%x: memref<1x2x16xi64> {ckks.name = "x"}) -> (memref<1x2x16xi64>, memref<1x2x16xi64>, memref<1x2x16xi64>) {
// CHECK-NEXT:    %arena = host.alloc : memref<512xi8>
// CHECK-NEXT:    %key = host.resource @key : memref<1x2x16xi64>
// CHECK-NEXT:    %rows3 = host.resource @rows3 : memref<2x16xi32>
// CHECK-NEXT:    %moduli = host.resource @moduli : memref<4x4xi64>
// CHECK-NEXT:    %r = host.view %arena at 256 : memref<512xi8> -> memref<1x2x16xi64>
// CHECK-NEXT:    host.launch @pointwise_0 grid [1, 2](%rows3, %moduli, %key, %r)
// CHECK-NEXT:    %s = host.alloc : memref<1x2x16xi64>
// CHECK-NEXT:    host.launch @pointwise_1 grid [1, 2](%rows3, %moduli, %r, %s)
// CHECK-NEXT:    func.return %s, %x, %s : memref<1x2x16xi64>, memref<1x2x16xi64>, memref<1x2x16xi64>
func.func @host(%x : !e {ckks.name = "x"}) -> (!e3, !e, !e3) attributes {memory.arena = 512 : i64} {
  %k = resource.ref @key : !e
  %r = fusion.region(%a = %k : !e) -> (!e2) attributes {resources = [@rows3, @moduli], offsets = [256]} {
    %n = rns.negate %a : !e
    fusion.yield %n : !e2
  }
  %s = fusion.region(%a = %r : !e2) -> (!e3) attributes {resources = [@rows3, @moduli], offsets = [-1]} {
    %n = rns.negate %a : !e2
    fusion.yield %n : !e3
  }
  return %s, %x, %s : !e3, !e, !e3
}

// Functions that hold no bundles stay as they are.
// CHECK-LABEL: func.func @other(%n: i64) -> i64 {
func.func @other(%n : i64) -> i64 {
  return %n : i64
}
}
