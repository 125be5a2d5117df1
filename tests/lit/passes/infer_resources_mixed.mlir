// RUN: fhelium-opt %s -p infer-resources | filecheck %s

// q0 and p0 are integers, q1 and q2 doubles: each group has row tables and tables of its own primes. A key is one buffer
// of 64-bit words. What converts to p0 is only computed by integers.
// CHECK:      resource.declare @key "relinearization_key" {exponent = 1 : i64} : memref<3x2x4x16xi64>
// CHECK-NEXT: resource.declare @rows_0 "rows" {{.*}} : memref<1x16xi32>
// CHECK-NEXT: resource.declare @moduli_0 "moduli" {arithmetic = "mont64"} : memref<2x4xi64>
// CHECK-NEXT: resource.declare @shoup_twiddles_0 "shoup_twiddles" {direction = "forward", groups = array<i64: 4>, stages = 4 : i64, arithmetic = "mont64"} : memref<2x2x16xi64>
// Rows begin with the number of their prime in its group.
// CHECK-NEXT: resource.declare @rows_1 "rows" {values = dense<{{\[\[}}0, 1, 1, 0, {{.*}}], [1, 2, 2, 0, {{.*}}]]> : tensor<2x16xi32>} : memref<2x16xi32>
// CHECK-NEXT: resource.declare @moduli_1 "moduli" {arithmetic = "fp64"} : memref<2x4xf64>
// CHECK-NEXT: resource.declare @twiddles_0 "twiddles" {direction = "forward", groups = array<i64: 2, 2>, arithmetic = "fp64"} : memref<2x16xf64>
// CHECK-NEXT: resource.declare @rows_2 "rows" {{.*}} : memref<1x16xi32>
// CHECK-NEXT: resource.declare @conversion_0 "conversion" {{{.*}}, correction = "none", exponent = 0 : i64, arithmetic = "mont64"} : memref<1x4x6xi64>
// CHECK-NEXT: func.func
// CHECK:        attributes {resources = [@rows_0, @moduli_0, @shoup_twiddles_0, @rows_1, @moduli_1, @twiddles_0]} {
// CHECK:        attributes {resources = [@rows_2, @moduli_0, @conversion_0]} {
!c = !rns.poly<16, q 0:3, coefficient, mont64(e = 0, below = 1) fp64(e = 0, below = 1)>
!e = !rns.poly<16, q 0:3, evaluation(bit_reversed), mont64(e = 0, below = 4) fp64(e = 0, below = 8)>
!p = !rns.poly<16, p 0:1, coefficient, mont64(e = 0, below = 2) fp64(e = 0, below = 1)>
!k = !rns.poly<16, q 0:3 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed), mont64(e = 1, below = 1) fp64(e = 0, below = 1)>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297, 1099511627873], p = [1152921504606845473], digits = 3, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mixed64>} {
resource.declare @key "relinearization_key" {exponent = 1 : i64}

func.func @f(%x : !c) -> (!e, !p) {
  %k = resource.ref @key : !k
  %r = fusion.region(%a = %x : !c) -> (!e) {
    %f = ntt.forward %a {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, float_contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>, schedule = #ntt.schedule<kernels = [[4]], rows = 1, columns = 1, warps = 1, shoup = 4>, float_schedule = #ntt.schedule<kernels = [[2], [2]], rows = 1, columns = 1, warps = 1>} : !c
    fusion.yield %f : !e
  }
  %s = fusion.region(%a = %x : !c) -> (!p) {
    %v = rns.base_convert %a {lift = "centred", correction = "none"} : !c -> !p
    fusion.yield %v : !p
  }
  return %r, %s : !e, !p
}
}
