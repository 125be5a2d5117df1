// RUN: fhelium-opt %s -p infer-resources | filecheck %s

!cmm2 = !rns.poly<16, q 0:2, coefficient, mont64(e = 2, below = 2)>
!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
!c = !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 1)>
!c2 = !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 2)>
!cm2 = !rns.poly<16, q 0:2, coefficient, mont64(e = 1, below = 2)>
!special_c = !rns.poly<16, p 0:1, coefficient, mont64(e = 0, below = 1)>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297, 1099511627873], p = [1152921504606845473], digits = 3, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {

// A base conversion takes (limbs + 1) x 3 numbers for each target row, always in 64 bits; its exponent is the result's.
// The row table says which constant a row takes, where its digit starts, how many limbs that has, and where the
// coefficients of the conversion start.
// CHECK:      resource.declare @rows_0 "rows" {values = dense<[[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 0, 1, 6, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x16xi32>} : memref<2x16xi32>
// CHECK-NEXT: resource.declare @moduli_0 "moduli" : memref<4x4xi64>
// One constant for each row, at the exponent that the op states.
// CHECK-NEXT: resource.declare @constants_0 "constants" {constant = #rns.constant<inverse p 0:1>, type = !rns.poly<16, q 0:2, coefficient>, exponent = 1 : i64} : memref<2xi64>
// CHECK-NEXT: resource.declare @conversion_0 "conversion" {source = !rns.poly<16, p 0:1, coefficient>, target = !rns.poly<16, q 0:2, coefficient>, correction = "nearest", exponent = 1 : i64} : memref<2x2x3xi64>
// CHECK-NEXT: resource.declare @constants_1 "constants" {constant = #rns.constant<inverse p 0:1>, type = !rns.poly<16, q 0:2, coefficient>, exponent = 2 : i64} : memref<2xi64>
// A permutation depends on the domain: only in the coefficient domain do signs flip.
// CHECK-NEXT: resource.declare @rows_1
// CHECK-NEXT: resource.declare @permutation_0 "permutation" {galois = 5 : i64, domain = "evaluation"} : memref<16xi32>
// CHECK-NEXT: resource.declare @permutation_1 "permutation" {galois = 5 : i64, domain = "coefficient"} : memref<16xi32>
// CHECK-NOT:  resource.declare

// CHECK-LABEL: func.func @constants(
// CHECK:         attributes {resources = [@rows_0, @moduli_0, @constants_0, @conversion_0]} {
// CHECK:         attributes {resources = [@rows_0, @moduli_0, @constants_1, @conversion_0]} {
func.func @constants(%x : !special_c) -> (!cm2, !cmm2) {
  %r = fusion.region(%a = %x : !special_c) -> (!cm2) {
    %v = rns.base_convert %a {lift = "canonical", correction = "nearest"} : !special_c -> !cm2
    %m = rns.mul_constant %v {constant = #rns.constant<inverse p 0:1>, exponent = 1} : !cm2 -> !cm2
    fusion.yield %m : !cm2
  }
  %s = fusion.region(%a = %x : !special_c) -> (!cmm2) {
    %v = rns.base_convert %a {lift = "canonical", correction = "nearest"} : !special_c -> !cm2
    %m = rns.mul_constant %v {constant = #rns.constant<inverse p 0:1>, exponent = 2} : !cm2 -> !cmm2
    fusion.yield %m : !cmm2
  }
  return %r, %s : !cm2, !cmm2
}

// CHECK-LABEL: func.func @permutations(
// CHECK:         attributes {resources = [@rows_1, @moduli_0, @permutation_0]} {
// CHECK:         attributes {resources = [@rows_1, @moduli_0, @permutation_1]} {
// CHECK:         attributes {resources = [@rows_1, @moduli_0, @permutation_0]} {
func.func @permutations(%x : !e, %z : !c) -> (!e, !c2, !e2) {
  %r = fusion.region(%a = %x : !e) -> (!e) {
    %v = rns.automorphism %a {galois = 5} : !e
    fusion.yield %v : !e
  }
  %s = fusion.region(%a = %z : !c) -> (!c2) {
    %v = rns.automorphism %a {galois = 5} : !c
    fusion.yield %v : !c2
  }
  %t = fusion.region(%a = %x : !e) -> (!e2) {
    %v = rns.automorphism %a {galois = 5} : !e
    %n = rns.negate %v : !e
    fusion.yield %n : !e2
  }
  return %r, %s, %t : !e, !c2, !e2
}
}
