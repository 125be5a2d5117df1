// RUN: fhelium-opt %s -p convert-regions-to-kernels --split-input-file | filecheck %s

!e = !rns.poly<16, q 0:1, evaluation(bit_reversed), smont32(e = 0, below = 16)>
!i = !rns.poly<16, q 0:1, evaluation(bit_reversed), int32(e = 0, below = 1)>
!c = !rns.poly<16, q 0:1, coefficient, smont32(e = 0, below = 2)>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [268434977], p = [268435361], digits = 1, scale = 2**20, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<smont32>} {

resource.declare @rows3 "rows" {values = dense<[[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<1x16xi32>} : memref<1x16xi32>
resource.declare @moduli "moduli" : memref<2x4xi32>
resource.declare @all "twiddles" {direction = "forward"} : memref<2x16xi32>

// Primes below 2^28 need no step towards 0 in four stages. What leaves becomes canonical.
// CHECK-LABEL: kernel.func @forward_0(
// CHECK-NOT:     zq.reduce
// CHECK:         zq.sub {{.*}} offset 0 : i32, !zq.modulus<smont32>
// CHECK-LABEL: kernel.func @forward_1(
// CHECK-NOT:     zq.reduce
// CHECK-COUNT-4: zq.canonical {{.*}} from 16 : !zq.modulus<smont32>
// CHECK-LABEL: func.func @transform(
func.func @transform(%x : !c) -> !i {
  %r = fusion.region(%a = %x : !c) -> (!i) attributes {resources = [@rows3, @moduli, @all]} {
    %f = ntt.forward %a {contract = #ntt.contract<bit_reversed, input = 2, output = 16, exponent = 0>, schedule = #ntt.schedule<kernels = [[1, 1], [2]], rows = 1, columns = 2, warps = 1>} : !c
    %s = rns.set_representative %f : !e -> !i
    fusion.yield %s : !i
  }
  return %r : !i
}
}

// -----

!e = !rns.poly<16, q 0:1, evaluation(bit_reversed), smont32(e = 0, below = 4)>
!c = !rns.poly<16, q 0:1, coefficient, smont32(e = 0, below = 2)>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1073740609], p = [1073741441], digits = 1, scale = 2**20, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<smont32>} {

resource.declare @rows3 "rows" {values = dense<[[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<1x16xi32>} : memref<1x16xi32>
resource.declare @moduli "moduli" : memref<2x4xi32>
resource.declare @all "twiddles" {direction = "forward"} : memref<2x16xi32>

// Words just below 2^30 need one in each butterfly but the first ones: from 1.6 and 1.7 q to 1 q, and 0.7 q more.
// CHECK-LABEL: kernel.func @forward_0(
// CHECK-COUNT-2: zq.mul
// CHECK:         zq.reduce {{.*}} from 4 to 2
// CHECK-LABEL: kernel.func @forward_1(
// CHECK-COUNT-4: zq.reduce {{.*}} from 4 to 2
// CHECK-NOT:     zq.reduce
// CHECK-LABEL: func.func @transform(
func.func @transform(%x : !c) -> !e {
  %r = fusion.region(%a = %x : !c) -> (!e) attributes {resources = [@rows3, @moduli, @all]} {
    %f = ntt.forward %a {contract = #ntt.contract<bit_reversed, input = 2, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[1, 1], [2]], rows = 1, columns = 2, warps = 1>} : !c
    fusion.yield %f : !e
  }
  return %r : !e
}
}
