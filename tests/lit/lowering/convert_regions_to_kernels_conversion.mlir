// RUN: fhelium-opt %s -p convert-regions-to-kernels | filecheck %s

!p_c = !rns.poly<16, p 0:2, coefficient, mont64(e = 0, below = 1)>
!c2 = !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 2)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {

resource.declare @rows "rows" {values = dense<[[0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 0, 2, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x16xi32>} : memref<2x16xi32>
resource.declare @moduli "moduli" : memref<5x4xi64>
resource.declare @table "conversion" {source = !rns.poly<16, p 0:2, coefficient>, target = !rns.poly<16, q 0:2, coefficient>, correction = "nearest", exponent = 0 : i64} : memref<2x3x3xi64>

// A loop over the limbs of the source: the sum of v_i * D/d_i below 2q, and of v_i/d_i in 32 fractional bits; then minus
// the rounded sum times D.
// CHECK-LABEL: kernel.func @pointwise_0(
// CHECK-SAME:    %in0: !kernel.buffer<i64>, %conversion0: !kernel.buffer<i64>, %bound1: i64,
// CHECK-DAG:     [[HALF:%[0-9]+]] = arith.constant 2147483648 : i64
// CHECK-DAG:     [[BITS:%[0-9]+]] = arith.constant 32 : i64
// CHECK:         [[RESULT:%[0-9]+]], [[COUNT:%[0-9]+]] = scf.for {{.*}} to %bound1 {{.*}} iter_args([[SUM:%[0-9]+]] = {{.*}}, [[U:%[0-9]+]] = {{.*}}) -> (i64, i64)
// CHECK:           [[C:%[0-9]+]] = kernel.load %conversion0
// CHECK:           [[M:%[0-9]+]] = kernel.load %conversion0
// CHECK:           [[SHIFT:%[0-9]+]] = kernel.load %conversion0
// CHECK:           [[V:%[0-9]+]] = kernel.load %in0
// CHECK-NEXT:      [[P:%[0-9]+]] = zq.mul [[V]], [[C]]
// CHECK-NEXT:      [[T:%[0-9]+]] = zq.add [[SUM]], [[P]]
// CHECK-NEXT:      [[NEXT:%[0-9]+]] = zq.reduce [[T]] {{.*}} from 4 to 2
// CHECK-NEXT:      [[SCALED:%[0-9]+]] = arith.shli [[V]], [[SHIFT]]
// CHECK-NEXT:      {{%[0-9]+}}, [[HIGH:%[0-9]+]] = arith.mului_extended [[SCALED]], [[M]]
// CHECK-NEXT:      [[MORE:%[0-9]+]] = arith.addi [[U]], [[HIGH]]
// CHECK-NEXT:      scf.yield [[NEXT]], [[MORE]]
// CHECK:         [[R:%[0-9]+]] = arith.addi [[COUNT]], [[HALF]]
// CHECK-NEXT:    [[K:%[0-9]+]] = arith.shrui [[R]], [[BITS]]
// CHECK-NEXT:    [[MINUS:%[0-9]+]] = kernel.load %conversion0
// CHECK-NEXT:    [[KD:%[0-9]+]] = zq.mul [[K]], [[MINUS]]
// CHECK-NEXT:    [[W:%[0-9]+]] = zq.add [[RESULT]], [[KD]]
// CHECK-NEXT:    zq.reduce [[W]] {{.*}} from 4 to 2
// The host passes the number of limbs of the longest digit.
// CHECK-LABEL: func.func @convert(
// CHECK:         %bound = arith.constant 2 : i64
// CHECK-NEXT:    host.launch @pointwise_0 grid [1, 2](%rows, %moduli, %x, %table, %bound, %r)
func.func @convert(%x : !p_c) -> !c2 {
  %r = fusion.region(%a = %x : !p_c) -> (!c2) attributes {resources = [@rows, @moduli, @table]} {
    %v = rns.base_convert %a {lift = "canonical", correction = "nearest"} : !p_c -> !c2
    fusion.yield %v : !c2
  }
  return %r : !c2
}
}
