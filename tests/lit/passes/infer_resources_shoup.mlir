// RUN: fhelium-opt %s -p infer-resources --split-input-file | filecheck %s

!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!e4 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 4)>
!c = !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 1)>
!c2 = !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 2)>
!m2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297, 1099511627873], p = [1152921504606845473], digits = 3, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {

// Factors with quotients are plain residues: N^-1 is stored at the exponent by which the contract changes that of the
// words. A schedule with Shoup's products in all stages reads no other twiddles.
// CHECK:      resource.declare @rows_0
// CHECK-NEXT: resource.declare @moduli_0
// CHECK-NEXT: resource.declare @shoup_twiddles_0 "shoup_twiddles" {direction = "forward", groups = array<i64: 2, 2>, stages = 2 : i64} : memref<4x2x4xi64>
// CHECK-NEXT: resource.declare @twiddles_0 "twiddles" {direction = "forward", groups = array<i64: 2, 2>} : memref<4x16xi64>
// CHECK-NEXT: resource.declare @shoup_twiddles_1 "shoup_twiddles" {direction = "inverse", groups = array<i64: 2, 2>, stages = 4 : i64} : memref<4x2x16xi64>
// CHECK-NEXT: resource.declare @shoup_inverse_degree_0 "shoup_inverse_degree" {exponent = -1 : i64} : memref<4x2x2xi64>
// CHECK-NEXT: func.func @transforms(
// CHECK:         attributes {resources = [@rows_0, @moduli_0, @shoup_twiddles_0, @twiddles_0]} {
// CHECK:         attributes {resources = [@rows_0, @moduli_0, @shoup_twiddles_1, @shoup_inverse_degree_0]} {
func.func @transforms(%x : !c, %z : !m2) -> (!e4, !c2) {
  %r = fusion.region(%a = %x : !c) -> (!e4) {
    %f = ntt.forward %a {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[2], [2]], rows = 1, columns = 4, warps = 1, shoup = 2>} : !c
    fusion.yield %f : !e4
  }
  %t = fusion.region(%a = %z : !m2) -> (!c2) {
    %i = ntt.inverse %a {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = -1>, schedule = #ntt.schedule<kernels = [[2], [2]], rows = 1, columns = 4, warps = 1, shoup = 4>} : !m2
    fusion.yield %i : !c2
  }
  return %r, %t : !e4, !c2
}
}

// -----

!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont32(e = 0, below = 2)>
!c = !rns.poly<16, q 0:2, coefficient, mont32(e = 0, below = 2)>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [536870657, 536870561], p = [536870849], digits = 2, scale = 2**20, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont32>} {

// Of 32-bit words a factor and its quotient are one entry of 64 bits.
// CHECK:      resource.declare @shoup_twiddles_0 "shoup_twiddles" {direction = "inverse", groups = array<i64: 2, 2>, stages = 2 : i64} : memref<3x4xi64>
// CHECK-NEXT: resource.declare @twiddles_0 "twiddles" {direction = "inverse", groups = array<i64: 2, 2>} : memref<3x16xi32>
// CHECK-NEXT: resource.declare @shoup_inverse_degree_0 "shoup_inverse_degree" {exponent = 0 : i64} : memref<3x2xi64>
// CHECK:         attributes {resources = [@rows_0, @moduli_0, @shoup_twiddles_0, @twiddles_0, @shoup_inverse_degree_0]} {
func.func @transforms(%x : !e) -> !c {
  %r = fusion.region(%a = %x : !e) -> (!c) {
    %f = ntt.inverse %a {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 0>, schedule = #ntt.schedule<kernels = [[2], [2]], rows = 1, columns = 4, warps = 1, shoup = 2>} : !e
    fusion.yield %f : !c
  }
  return %r : !c
}
}
