// RUN: fhelium-opt %s -p infer-resources | filecheck %s

!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297, 1099511627873], p = [1152921504606845473], digits = 3, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {

// A resource that is declared already is used under its name; new names avoid those that are taken.
// CHECK:      resource.declare @primes "moduli"
// CHECK-NEXT: resource.declare @rows_1 "rows"
// CHECK-NOT:  resource.declare
resource.declare @primes "moduli" : memref<4x4xi64>

// CHECK-LABEL: func.func @rows_0(
// CHECK:         attributes {resources = [@rows_1, @primes]} {
func.func @rows_0(%x : !e) -> !e2 {
  %r = fusion.region(%a = %x : !e) -> (!e2) {
    %n = rns.negate %a : !e
    fusion.yield %n : !e2
  }
  return %r : !e2
}
}
