// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// A key of the full chain works at every level.
// CHECK-LABEL: func.func @lower_level(
// CHECK:       %r = rns.accumulate %x, %f, %k : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, !rns.poly<8192, q 0:2 p 0:1, digits = complement(1), evaluation(bit_reversed)>, !rns.poly<8192, q 0:3 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2 p 0:1, components = 2, evaluation(bit_reversed)>
func.func @lower_level(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, %f : !rns.poly<8192, q 0:2 p 0:1, digits = complement(1), evaluation(bit_reversed)>, %k : !rns.poly<8192, q 0:3 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2 p 0:1, components = 2, evaluation(bit_reversed)> {
  %r = rns.accumulate %x, %f, %k : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, !rns.poly<8192, q 0:2 p 0:1, digits = complement(1), evaluation(bit_reversed)>, !rns.poly<8192, q 0:3 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2 p 0:1, components = 2, evaluation(bit_reversed)>
}

// CHECK-LABEL: func.func @exponents(
// CHECK:       %r = rns.accumulate %x, %f, %k : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>, !rns.poly<8192, q 0:2 p 0:1, digits = complement(1), evaluation(bit_reversed), mont64(e = 0, below = 4)>, !rns.poly<8192, q 0:3 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed), mont64(e = 1, below = 1)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2 p 0:1, components = 2, evaluation(bit_reversed), mont64(e = 0, below = ?)>
func.func @exponents(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>, %f : !rns.poly<8192, q 0:2 p 0:1, digits = complement(1), evaluation(bit_reversed), mont64(e = 0, below = 4)>, %k : !rns.poly<8192, q 0:3 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed), mont64(e = 1, below = 1)>) -> !rns.poly<8192, q 0:2 p 0:1, components = 2, evaluation(bit_reversed), mont64(e = 0, below = ?)> {
  %r = rns.accumulate %x, %f, %k : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>, !rns.poly<8192, q 0:2 p 0:1, digits = complement(1), evaluation(bit_reversed), mont64(e = 0, below = 4)>, !rns.poly<8192, q 0:3 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed), mont64(e = 1, below = 1)>
  return %r : !rns.poly<8192, q 0:2 p 0:1, components = 2, evaluation(bit_reversed), mont64(e = 0, below = ?)>
}
