// RUN: fhelium-opt %s -p convert-ckks-to-rns --remarks=applied 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err

!ct = !ckks.ciphertext<level = 2, scale = 2**40>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297, 1099511627873], p = [1152921504606845473], digits = 3, scale = 2**40, secret = ternary, insecure>} {

// Rotations by 0 and by multiples of the 8 slots are the identity: no op, no key.
// CHECK-NOT:   resource.declare
// CHECK-LABEL: func.func @identities(
// CHECK-NEXT:    func.return %x
// REMARKS:      convert_ckks_to_rns_rotate_by_nothing.mlir:[[# @LINE + 4]]:8: remark: [convert-ckks-to-rns] applied: 'ckks.rotate': rotation by 0 is the identity: removed
// REMARKS-NEXT: 'ckks.rotate': rotation by 8 is the identity: removed
// REMARKS-NEXT: 'ckks.rotate': rotation by -16 is the identity: removed
func.func @identities(%x : !ct) -> !ct {
  %a = ckks.rotate %x {steps = 0} : !ct
  %b = ckks.rotate %a {steps = 8} : !ct
  %c = ckks.rotate %b {steps = -16} : !ct
  return %c : !ct
}
}
