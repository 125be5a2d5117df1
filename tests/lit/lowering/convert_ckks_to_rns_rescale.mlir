// RUN: fhelium-opt %s -p convert-ckks-to-rns | filecheck %s

!square = !ckks.ciphertext<level = 2, scale = 2**80>
!rescaled = !ckks.ciphertext<level = 1, scale = 2**80 / q2>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297, 1099511627873], p = [1152921504606845473], digits = 3, scale = 2**40, secret = ternary, insecure>} {

// (x - [x] mod q2) / q2: with a single prime there is no punctured product.
// CHECK-LABEL: func.func @rescale(
// CHECK-NEXT:    %0 = rns.restrict %x : !rns.poly<16, q 0:3, components = 2, evaluation(bit_reversed)> -> !rns.poly<16, q 2:3, components = 2, evaluation(bit_reversed)>
// CHECK-NEXT:    %1 = ntt.inverse %0 : !rns.poly<16, q 2:3, components = 2, evaluation(bit_reversed)>
// CHECK-NEXT:    %2 = rns.base_convert %1 {lift = "canonical", correction = "nearest"} : !rns.poly<16, q 2:3, components = 2, coefficient> -> !rns.poly<16, q 0:2, components = 2, coefficient>
// CHECK-NEXT:    %3 = ntt.forward %2 : !rns.poly<16, q 0:2, components = 2, coefficient>
// CHECK-NEXT:    %4 = rns.restrict %x : !rns.poly<16, q 0:3, components = 2, evaluation(bit_reversed)> -> !rns.poly<16, q 0:2, components = 2, evaluation(bit_reversed)>
// CHECK-NEXT:    %5 = rns.sub %4, %3
// CHECK-NEXT:    %z = rns.mul_constant %5 {constant = #rns.constant<inverse q 2:3>}
// CHECK-NEXT:    func.return %z
func.func @rescale(%x : !square) -> !rescaled {
  %z = ckks.rescale %x : !square
  return %z : !rescaled
}
}
