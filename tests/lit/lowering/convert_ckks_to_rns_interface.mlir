// RUN: fhelium-opt %s -p convert-ckks-to-rns | filecheck %s

!ct = !ckks.ciphertext<level = 2, scale = 2**40>
!pt = !ckks.plaintext<level = 1, scale = 2**30>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297, 1099511627873], p = [1152921504606845473], digits = 3, scale = 2**40, secret = ternary, insecure>} {

// What the client needs stays on the interface: names, ranges, lengths and the types of the program stage.
// CHECK-LABEL: func.func @interface(
// CHECK-SAME:    %x: !rns.poly<16, q 0:3, components = 2, evaluation(bit_reversed)> {ckks.range = 2.000000e+00 : f64, ckks.slots = 4 : i64, ckks.name = "x", ckks.type = !ckks.ciphertext<level = 2, scale = 2**40>},
// CHECK-SAME:    %y: !rns.poly<16, q 0:2, evaluation(bit_reversed)> {ckks.name = "left", ckks.type = !ckks.plaintext<level = 1, scale = 2**30>},
// CHECK-SAME:    %0: !rns.poly<16, q 0:2, evaluation(bit_reversed)> {ckks.name = "arg2", ckks.type = !ckks.plaintext<level = 1, scale = 2**30>})
// CHECK-SAME:    -> (!rns.poly<16, q 0:3, components = 2, evaluation(bit_reversed)> {ckks.type = !ckks.ciphertext<level = 2, scale = 2**40>}, !rns.poly<16, q 0:2, evaluation(bit_reversed)> {ckks.type = !ckks.plaintext<level = 1, scale = 2**30>})
func.func @interface(%x : !ct {ckks.range = 2.0 : f64, ckks.slots = 4 : i64}, %y : !pt {ckks.name = "left"}, %0 : !pt) -> (!ct, !pt) {
  return %x, %y : !ct, !pt
}

// Functions on other values stay as they are.
// CHECK-LABEL: func.func @other(
// CHECK-NEXT:    %z = arith.addi %x, %x : i64
func.func @other(%x : i64) -> i64 {
  %z = arith.addi %x, %x : i64
  return %z : i64
}
}
