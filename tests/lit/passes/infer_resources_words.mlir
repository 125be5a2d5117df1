// RUN: fhelium-opt %s -p infer-resources | filecheck %s

!p_c = !rns.poly<16, p 0:2, coefficient, mont32(e = 0, below = 1)>
!y_c2 = !rns.poly<16, q 0:2, coefficient, mont32(e = 0, below = 2)>
!z2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont32(e = 0, below = 2)>
!z4 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont32(e = 0, below = 4)>
!k32 = !rns.poly<16, q 0:3 p 0:2, components = 2, digits = key(2), evaluation(bit_reversed), mont32(e = 1, below = 1)>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [268434977, 16777441, 16777153], p = [268435361, 268435009], digits = 2, scale = 2**24, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont32>} {

// In 32-bit arithmetic the tables of residues have 32-bit words, conversion tables still 64.
// CHECK:      resource.declare @key "relinearization_key" {exponent = 1 : i64} : memref<2x2x5x16xi32>
// CHECK-NEXT: resource.declare @rows_0 {{.*}} : memref<2x16xi32>
// CHECK-NEXT: resource.declare @moduli_0 "moduli" : memref<5x4xi32>
// CHECK-NEXT: resource.declare @twiddles_0 "twiddles" {direction = "forward"} : memref<5x16xi32>
// Two special primes: the product of both, and both terms.
// CHECK-NEXT: resource.declare @conversion_0 "conversion" {{.*}} : memref<2x3x3xi64>
// CHECK-NEXT: resource.declare @constants_0 "constants" {{.*}} : memref<2xi32>
resource.declare @key "relinearization_key" {exponent = 1 : i64}

func.func @words(%x : !p_c) -> !z2 {
  %k = resource.ref @key : !k32
  %r = fusion.region(%a = %x : !p_c) -> (!z2) {
    %v = rns.base_convert %a {lift = "canonical", correction = "nearest"} : !p_c -> !y_c2
    %f = ntt.forward %v {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !y_c2
    %m = rns.mul_constant %f {constant = #rns.constant<inverse p 0:2>, exponent = 1} : !z4 -> !z2
    fusion.yield %m : !z2
  }
  return %r : !z2
}
}
