// RUN: fhelium-opt %s -p convert-ckks-to-rns | filecheck %s

!ct3 = !ckks.ciphertext<level = 2, scale = 2**80, size = 3>
!square = !ckks.ciphertext<level = 2, scale = 2**80>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297, 1099511627873], p = [1152921504606845473], digits = 3, scale = 2**40, secret = ternary, insecure>} {

// CHECK:      resource.declare @relinearization_key "relinearization_key"

// The key switch of the third component, ModDown by P, and the sum with the other two.
// CHECK-LABEL: func.func @relinearize(
// CHECK-NEXT:    %0 = rns.extract %x {first = 2 : i64, count = 1 : i64}
// CHECK-NEXT:    %1 = ntt.inverse %0 : !rns.poly<16, q 0:3, evaluation(bit_reversed)>
// CHECK-NEXT:    %2 = rns.digits %1 {size = 1 : i64}
// CHECK-NEXT:    %3 = rns.mul_constant %2 {constant = #rns.constant<punctured_inverse>}
// CHECK-NEXT:    %4 = rns.base_convert %3 {lift = "centred", correction = "none"} : !rns.poly<16, q 0:3, digits = own(1), coefficient> -> !rns.poly<16, q 0:3 p 0:1, digits = complement(1), coefficient>
// CHECK-NEXT:    %5 = ntt.forward %4 : !rns.poly<16, q 0:3 p 0:1, digits = complement(1), coefficient>
// CHECK-NEXT:    %6 = resource.ref @relinearization_key : !rns.poly<16, q 0:3 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed)>
// CHECK-NEXT:    %7 = rns.accumulate %0, %5, %6
// CHECK-NEXT:    %8 = rns.restrict %7 : !rns.poly<16, q 0:3 p 0:1, components = 2, evaluation(bit_reversed)> -> !rns.poly<16, p 0:1, components = 2, evaluation(bit_reversed)>
// CHECK-NEXT:    %9 = ntt.inverse %8 : !rns.poly<16, p 0:1, components = 2, evaluation(bit_reversed)>
// CHECK-NEXT:    %10 = rns.base_convert %9 {lift = "canonical", correction = "nearest"} : !rns.poly<16, p 0:1, components = 2, coefficient> -> !rns.poly<16, q 0:3, components = 2, coefficient>
// CHECK-NEXT:    %11 = ntt.forward %10 : !rns.poly<16, q 0:3, components = 2, coefficient>
// CHECK-NEXT:    %12 = rns.restrict %7 : !rns.poly<16, q 0:3 p 0:1, components = 2, evaluation(bit_reversed)> -> !rns.poly<16, q 0:3, components = 2, evaluation(bit_reversed)>
// CHECK-NEXT:    %13 = rns.sub %12, %11
// CHECK-NEXT:    %14 = rns.mul_constant %13 {constant = #rns.constant<inverse p 0:1>}
// CHECK-NEXT:    %15 = rns.extract %x {first = 0 : i64, count = 2 : i64}
// CHECK-NEXT:    %z = rns.add %15, %14
// CHECK-NEXT:    func.return %z
func.func @relinearize(%x : !ct3) -> !square {
  %z = ckks.relinearize %x : !ct3
  return %z : !square
}
}
