// RUN: fhelium-opt %s -p infer-resources | filecheck %s

!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!e4 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 4)>
!c = !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 1)>
!c2 = !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 2)>
!m2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297, 1099511627873], p = [1152921504606845473], digits = 3, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {

// Twiddles of every prime, by direction; N^-1 for the inverse, stored so that the contract's exponent change is part of
// it: 1 leaves the exponent, 0 takes one off.
// CHECK:      resource.declare @rows_0
// CHECK-NEXT: resource.declare @moduli_0
// CHECK-NEXT: resource.declare @twiddles_0 "twiddles" {direction = "forward"} : memref<4x16xi64>
// CHECK-NEXT: resource.declare @twiddles_1 "twiddles" {direction = "inverse"} : memref<4x16xi64>
// CHECK-NEXT: resource.declare @inverse_degree_0 "inverse_degree" {exponent = 1 : i64} : memref<4x2xi64>
// CHECK-NEXT: resource.declare @inverse_degree_1 "inverse_degree" {exponent = 0 : i64} : memref<4x2xi64>
// CHECK-NEXT: func.func @transforms(

// CHECK:         attributes {resources = [@rows_0, @moduli_0, @twiddles_0]} {
// CHECK:         attributes {resources = [@rows_0, @moduli_0, @twiddles_1, @inverse_degree_0]} {
// CHECK:         attributes {resources = [@rows_0, @moduli_0, @twiddles_1, @inverse_degree_1]} {
func.func @transforms(%x : !c, %y : !e, %z : !m2) -> (!e4, !c2, !c2) {
  %r = fusion.region(%a = %x : !c) -> (!e4) {
    %f = ntt.forward %a {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !c
    fusion.yield %f : !e4
  }
  %s = fusion.region(%a = %y : !e) -> (!c2) {
    %i = ntt.inverse %a {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 0>} : !e
    fusion.yield %i : !c2
  }
  %t = fusion.region(%a = %z : !m2) -> (!c2) {
    %i = ntt.inverse %a {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = -1>} : !m2
    fusion.yield %i : !c2
  }
  return %r, %s, %t : !e4, !c2, !c2
}
}
