// RUN: fhelium-opt %s -p infer-resources | filecheck %s

!m = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 1)>
!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!ext = !rns.poly<16, q 0:2 p 0:1, components = 2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
!complement = !rns.poly<16, q 0:2 p 0:1, digits = complement(1), evaluation(bit_reversed), mont64(e = 0, below = 4)>
!key = !rns.poly<16, q 0:3 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed), mont64(e = 1, below = 1)>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297, 1099511627873], p = [1152921504606845473], digits = 3, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {

// Keys and plaintexts get the shape of the bundle that the program reads: digits x 2 x primes x N.
// CHECK:      resource.declare @galois_key_5 "galois_key" {galois = 5 : i64, exponent = 1 : i64} : memref<3x2x4x16xi64>
// CHECK-NEXT: resource.declare @plaintext "plaintext" {values = dense<1.000000e+00> : tensor<1xf64>, level = 1 : i64, scale = "2/1", exponent = 1 : i64} : memref<1x2x16xi64>
// A row of the sum, by result row (q0, q1, p0) and digit: the row of the digit's own limbs, else of the converted ones,
// then the rows of the key's two components.
// CHECK-NEXT: resource.declare @rows_0 "rows" {values = dense<[[0, 0, 2, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 8, 2, 1, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [3, 16, 2, 2, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<3x16xi32>} : memref<3x16xi32>
// CHECK-NEXT: resource.declare @moduli_0 "moduli" : memref<4x4xi64>
// CHECK-NEXT: resource.declare @rows_1 "rows" {values = dense<[[0, -1, 0, 4], [-1, 2, 8, 12], [-1, 0, 1, 5], [1, -1, 9, 13], [-1, 1, 3, 7], [-1, 3, 11, 15]]> : tensor<6x4xi32>} : memref<6x4xi32>
// CHECK-NOT:  resource.declare
resource.declare @galois_key_5 "galois_key" {galois = 5 : i64, exponent = 1 : i64}
resource.declare @plaintext "plaintext" {values = dense<1.0> : tensor<1xf64>, level = 1 : i64, scale = "2/1", exponent = 1 : i64}

// CHECK-LABEL: func.func @inner_product(
// CHECK:         fusion.region({{.*}}) -> ({{.*}}) attributes {resources = [@rows_0, @moduli_0, @rows_1]} {
func.func @inner_product(%own : !e, %converted : !complement) -> (!ext, !m) {
  %k = resource.ref @galois_key_5 : !key
  %p = resource.ref @plaintext : !m
  %r = fusion.region(%o = %own : !e, %c = %converted : !complement, %l = %k : !key) -> (!ext) {
    %a = rns.accumulate %o, %c, %l : !e, !complement, !key -> !ext
    fusion.yield %a : !ext
  }
  return %r, %p : !ext, !m
}
}
