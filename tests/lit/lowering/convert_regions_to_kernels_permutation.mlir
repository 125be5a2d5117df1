// RUN: fhelium-opt %s -p convert-regions-to-kernels | filecheck %s

!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!c = !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 1)>
!c2 = !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 2)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {

resource.declare @rows3 "rows" {values = dense<[[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x16xi32>} : memref<2x16xi32>
resource.declare @moduli "moduli" : memref<4x4xi64>
resource.declare @evaluation "permutation" {galois = 5 : i64, domain = "evaluation"} : memref<16xi32>
resource.declare @coefficient "permutation" {galois = 5 : i64, domain = "coefficient"} : memref<16xi32>

// In the evaluation domain an automorphism is an index; in the coefficient domain the table's entries from N on
// say that the sign flips.
// CHECK-LABEL: kernel.func @pointwise_0(
// CHECK:         kernel.load %permutation0[%{{[0-9]+}}] {blocks = 16 : i64}
// CHECK:         [[X:%[0-9]+]] = kernel.load %in0
// CHECK-NOT:     zq.
// CHECK:         kernel.store [[X]], %out0
// CHECK-LABEL: kernel.func @pointwise_1(
// CHECK-DAG:     [[N:%[0-9]+]] = arith.constant 16 : i64
// CHECK-DAG:     [[MASK:%[0-9]+]] = arith.constant 15 : i64
// CHECK:         kernel.load %permutation0[%{{[0-9]+}}] :
// CHECK-NEXT:    [[INDEX:%[0-9]+]] = arith.extsi
// CHECK:         arith.andi [[INDEX]], [[MASK]] : i64
// CHECK:         [[X:%[0-9]+]] = kernel.load %in0
// CHECK-NEXT:    [[MINUS:%[0-9]+]] = zq.sub {{%[0-9]+}}, [[X]] {{.*}} offset 1
// CHECK-NEXT:    [[SIGN:%[0-9]+]] = arith.cmpi sge, [[INDEX]], [[N]] : i64
// CHECK-NEXT:    [[Y:%[0-9]+]] = arith.select [[SIGN]], [[MINUS]], [[X]] : i64
// CHECK:         kernel.store [[Y]], %out0
func.func @automorphisms(%x : !e, %y : !c) -> (!e, !c2) {
  %r = fusion.region(%a = %x : !e) -> (!e) attributes {resources = [@rows3, @moduli, @evaluation]} {
    %v = rns.automorphism %a {galois = 5} : !e
    fusion.yield %v : !e
  }
  %s = fusion.region(%a = %y : !c) -> (!c2) attributes {resources = [@rows3, @moduli, @coefficient]} {
    %v = rns.automorphism %a {galois = 5} : !c
    fusion.yield %v : !c2
  }
  return %r, %s : !e, !c2
}
}
