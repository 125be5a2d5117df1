// RUN: fhelium-opt %s -p convert-ckks-to-rns | filecheck %s

!ct = !ckks.ciphertext<level = 2, scale = 2**40>
!low = !ckks.ciphertext<level = 0, scale = 2**40>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297, 1099511627873], p = [1152921504606845473], digits = 3, scale = 2**40, secret = ternary, insecure>} {

// A view of the limbs that stay.
// CHECK-LABEL: func.func @mod_switch(
// CHECK-NEXT:    %z = rns.restrict %x : !rns.poly<16, q 0:3, components = 2, evaluation(bit_reversed)> -> !rns.poly<16, q 0:1, components = 2, evaluation(bit_reversed)>
// CHECK-NEXT:    func.return %z
func.func @mod_switch(%x : !ct) -> !low {
  %z = ckks.mod_switch %x {levels = 2} : !ct
  return %z : !low
}
}
