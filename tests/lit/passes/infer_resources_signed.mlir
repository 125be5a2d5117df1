// RUN: fhelium-opt %s -p infer-resources | filecheck %s

!q_c = !rns.poly<16, q 0:2, digits = own(1), coefficient, smont32(e = 0, below = 1)>
!d_c = !rns.poly<16, q 0:2 p 0:1, digits = complement(1), coefficient, smont32(e = 0, below = 2)>
!p_c = !rns.poly<16, p 0:2, coefficient, smont32(e = 0, below = 1)>
!y_c = !rns.poly<16, q 0:2, coefficient, smont32(e = 0, below = 2)>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [268434977, 16777441], p = [268435361, 268435009], digits = 2, scale = 2**24, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<smont32>} {

// Signed words need one coefficient for each source limb, a word, if nothing is corrected;
// CHECK-DAG: resource.declare @conversion_0 "conversion" {{{.*}}correction = "none"{{.*}}} : memref<4x2x1xi32>
func.func @centred(%x : !q_c) -> !d_c {
  %r = fusion.region(%a = %x : !q_c) -> (!d_c) {
    %v = rns.base_convert %a {lift = "centred", correction = "none"} : !q_c -> !d_c
    fusion.yield %v : !d_c
  }
  return %r : !d_c
}

// else four integers.
// CHECK-DAG: resource.declare @conversion_1 "conversion" {{{.*}}correction = "nearest"{{.*}}} : memref<2x3x4xi64>
func.func @nearest(%x : !p_c) -> !y_c {
  %r = fusion.region(%a = %x : !p_c) -> (!y_c) {
    %v = rns.base_convert %a {lift = "canonical", correction = "nearest"} : !p_c -> !y_c
    fusion.yield %v : !y_c
  }
  return %r : !y_c
}
}
