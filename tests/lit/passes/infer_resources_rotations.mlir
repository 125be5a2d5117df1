// RUN: fhelium-opt %s -p fhelium-default --stop-after infer-resources | filecheck %s

module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297, 1099511627873], p = [1152921504606845473], digits = 3, scale = 2**40, secret = ternary, insecure>} {

// Two rotations by one step (by 1 and by -7 of 8 slots) name one key, and share every table of their key switch.
// CHECK:       resource.declare @galois_key_5 "galois_key" {galois = 5 : i64, {{.*}}} : memref<3x2x4x16xi64>
// CHECK-NOT:   "galois_key"
// CHECK:       resource.declare @permutation_0 "permutation" {galois = 5 : i64, domain = "evaluation"}
// CHECK-NOT:   "galois_key"
// CHECK-NOT:   "permutation"
// CHECK-LABEL: func.func @rotations(
// CHECK:         resource.ref @galois_key_5
func.func @rotations(%x : !ckks.ciphertext, %y : !ckks.ciphertext) -> (!ckks.ciphertext, !ckks.ciphertext) {
  %a = ckks.rotate %x {steps = 1} : !ckks.ciphertext
  %b = ckks.rotate %y {steps = -7} : !ckks.ciphertext
  return %a, %b : !ckks.ciphertext, !ckks.ciphertext
}
}
