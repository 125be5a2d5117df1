// RUN: fhelium-opt %s -p convert-ckks-to-rns | filecheck %s

!ct = !ckks.ciphertext<level = 2, scale = 2**40>
!low = !ckks.ciphertext<level = 1, scale = 2**40>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297, 1099511627873], p = [1152921504606845473], digits = 3, scale = 2**40, secret = ternary, insecure>} {

// By 3, -5 and 11 are one rotation of 8 slots (5^3 = 29 modulo 32); by 1 is another.
// CHECK:      resource.declare @galois_key_29 "galois_key" {galois = 29 : i64}
// CHECK-NEXT: resource.declare @galois_key_5 "galois_key" {galois = 5 : i64}
// CHECK-NOT:  resource.declare

// CHECK-LABEL: func.func @rotations(
// CHECK:         resource.ref @galois_key_29
// CHECK:         resource.ref @galois_key_29
// CHECK:         resource.ref @galois_key_5 :
func.func @rotations(%x : !ct, %y : !ct) -> (!ct, !ct, !ct) {
  %a = ckks.rotate %x {steps = 3} : !ct
  %b = ckks.rotate %y {steps = -5} : !ct
  %c = ckks.rotate %x {steps = 1} : !ct
  return %a, %b, %c : !ct, !ct, !ct
}

// Another function and another level use the same key, whole.
// CHECK-LABEL: func.func @lower(
// CHECK:         resource.ref @galois_key_29 : !rns.poly<16, q 0:3 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed)>
func.func @lower(%x : !low) -> !low {
  %a = ckks.rotate %x {steps = 11} : !low
  return %a : !low
}
}
