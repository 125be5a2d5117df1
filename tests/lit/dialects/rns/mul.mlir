// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// CHECK-LABEL: func.func @plain(
// CHECK:       %r = rns.mul %x, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
func.func @plain(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)> {
  %r = rns.mul %x, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// e1 + e2 - 1; the interval is left to the pass that knows the primes.
// CHECK-LABEL: func.func @exponents(
// CHECK:       %r = rns.mul %x, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>, !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = ?)>
func.func @exponents(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = ?)> {
  %r = rns.mul %x, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>, !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = ?)>
}

// A result type that states more than what follows is written.
// CHECK-LABEL: func.func @tracked(
// CHECK:       %r = rns.mul %x, %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)> -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>
func.func @tracked(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)> {
  %r = rns.mul %x, %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)> -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>
}
