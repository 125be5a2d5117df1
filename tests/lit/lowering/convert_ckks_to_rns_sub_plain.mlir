// RUN: fhelium-opt %s -p convert-ckks-to-rns | filecheck %s

!ct = !ckks.ciphertext<level = 2, scale = 2**40>
!pt = !ckks.plaintext<level = 2, scale = 2**40>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297, 1099511627873], p = [1152921504606845473], digits = 3, scale = 2**40, secret = ternary, insecure>} {

// CHECK-LABEL: func.func @sub_plain(
// CHECK-NEXT:    %0 = rns.pad %y {components = 2 : i64}
// CHECK-NEXT:    %z = rns.sub %x, %0
// CHECK-NEXT:    func.return %z
func.func @sub_plain(%x : !ct, %y : !pt) -> !ct {
  %z = ckks.sub_plain %x, %y : !ct, !pt
  return %z : !ct
}
}
