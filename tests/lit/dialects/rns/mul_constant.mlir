// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// CHECK-LABEL: func.func @punctured(
// CHECK:       %r = rns.mul_constant %x {constant = #rns.constant<punctured_inverse>} : !rns.poly<8192, q 0:2, coefficient>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, coefficient>
func.func @punctured(%x : !rns.poly<8192, q 0:2, coefficient>) -> !rns.poly<8192, q 0:2, coefficient> {
  %r = rns.mul_constant %x {constant = #rns.constant<punctured_inverse>} : !rns.poly<8192, q 0:2, coefficient>
  return %r : !rns.poly<8192, q 0:2, coefficient>
}

// CHECK-LABEL: func.func @inverse(
// CHECK:       %r = rns.mul_constant %x {constant = #rns.constant<inverse p 0:1>} : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
func.func @inverse(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)> {
  %r = rns.mul_constant %x {constant = #rns.constant<inverse p 0:1>} : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// CHECK-LABEL: func.func @joined(
// CHECK:       %r = rns.mul_constant %x {constant = #rns.constant<inverse q 1:2 p 0:2>} : !rns.poly<8192, q 0:1, evaluation(bit_reversed)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:1, evaluation(bit_reversed)>
func.func @joined(%x : !rns.poly<8192, q 0:1, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:1, evaluation(bit_reversed)> {
  %r = rns.mul_constant %x {constant = #rns.constant<inverse q 1:2 p 0:2>} : !rns.poly<8192, q 0:1, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:1, evaluation(bit_reversed)>
}

// A constant stored with exponent 2 raises the exponent by one.
// CHECK-LABEL: func.func @exponent(
// CHECK:       %r = rns.mul_constant %x {constant = #rns.constant<inverse p 0:1>, exponent = 2 : i64} : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)> -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>
func.func @exponent(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)> {
  %r = rns.mul_constant %x {constant = #rns.constant<inverse p 0:1>, exponent = 2 : i64} : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)> -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>
}
