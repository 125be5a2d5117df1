// RUN: fhelium-opt %s -p convert-ckks-to-rns | filecheck %s

!ct = !ckks.ciphertext<level = 2, scale = 2**40>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297, 1099511627873], p = [1152921504606845473], digits = 3, scale = 2**40, secret = ternary, insecure>} {

// CHECK:      resource.declare @galois_key_31 "galois_key" {galois = 31 : i64}

// The Galois element of complex conjugation is 2N - 1.
// CHECK-LABEL: func.func @conjugate(
// CHECK-NEXT:    %0 = rns.extract %x {first = 0 : i64, count = 1 : i64}
// CHECK-NEXT:    %1 = rns.extract %x {first = 1 : i64, count = 1 : i64}
// CHECK-NEXT:    %2 = rns.automorphism %0 {galois = 31 : i64}
// CHECK-NEXT:    %3 = rns.automorphism %1 {galois = 31 : i64}
// CHECK-NEXT:    %4 = ntt.inverse %3 : !rns.poly<16, q 0:3, evaluation(bit_reversed)>
// CHECK-NEXT:    %5 = rns.digits %4 {size = 1 : i64}
// CHECK-NEXT:    %6 = rns.mul_constant %5 {constant = #rns.constant<punctured_inverse>}
// CHECK-NEXT:    %7 = rns.base_convert %6 {lift = "centred", correction = "none"} : !rns.poly<16, q 0:3, digits = own(1), coefficient> -> !rns.poly<16, q 0:3 p 0:1, digits = complement(1), coefficient>
// CHECK-NEXT:    %8 = ntt.forward %7 : !rns.poly<16, q 0:3 p 0:1, digits = complement(1), coefficient>
// CHECK-NEXT:    %9 = resource.ref @galois_key_31 : !rns.poly<16, q 0:3 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed)>
// CHECK-NEXT:    %10 = rns.accumulate %3, %8, %9
// CHECK-NEXT:    %11 = rns.restrict %10 : !rns.poly<16, q 0:3 p 0:1, components = 2, evaluation(bit_reversed)> -> !rns.poly<16, p 0:1, components = 2, evaluation(bit_reversed)>
// CHECK-NEXT:    %12 = ntt.inverse %11 : !rns.poly<16, p 0:1, components = 2, evaluation(bit_reversed)>
// CHECK-NEXT:    %13 = rns.base_convert %12 {lift = "canonical", correction = "nearest"} : !rns.poly<16, p 0:1, components = 2, coefficient> -> !rns.poly<16, q 0:3, components = 2, coefficient>
// CHECK-NEXT:    %14 = ntt.forward %13 : !rns.poly<16, q 0:3, components = 2, coefficient>
// CHECK-NEXT:    %15 = rns.restrict %10 : !rns.poly<16, q 0:3 p 0:1, components = 2, evaluation(bit_reversed)> -> !rns.poly<16, q 0:3, components = 2, evaluation(bit_reversed)>
// CHECK-NEXT:    %16 = rns.sub %15, %14
// CHECK-NEXT:    %17 = rns.mul_constant %16 {constant = #rns.constant<inverse p 0:1>}
// CHECK-NEXT:    %18 = rns.pad %2 {components = 2 : i64}
// CHECK-NEXT:    %z = rns.add %18, %17
// CHECK-NEXT:    func.return %z
func.func @conjugate(%x : !ct) -> !ct {
  %z = ckks.conjugate %x : !ct
  return %z : !ct
}
}
