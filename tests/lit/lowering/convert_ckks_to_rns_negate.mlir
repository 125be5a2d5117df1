// RUN: fhelium-opt %s -p convert-ckks-to-rns | filecheck %s

!ct = !ckks.ciphertext<level = 2, scale = 2**40>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297, 1099511627873], p = [1152921504606845473], digits = 3, scale = 2**40, secret = ternary, insecure>} {

// CHECK-LABEL: func.func @negate(
// CHECK-NEXT:    %z = rns.negate %x
// CHECK-NEXT:    func.return %z
func.func @negate(%x : !ct) -> !ct {
  %z = ckks.negate %x : !ct
  return %z : !ct
}
}
