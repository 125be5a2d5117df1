// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// CHECK-LABEL: func.func @plain(
// CHECK:       %r = rns.add %x, %y : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
func.func @plain(%x : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>, %y : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)> {
  %r = rns.add %x, %y : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
}

// CHECK-LABEL: func.func @coefficients(
// CHECK:       %r = rns.add %x, %x : !rns.poly<8192, q 0:2, coefficient>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, coefficient>
func.func @coefficients(%x : !rns.poly<8192, q 0:2, coefficient>) -> !rns.poly<8192, q 0:2, coefficient> {
  %r = rns.add %x, %x : !rns.poly<8192, q 0:2, coefficient>
  return %r : !rns.poly<8192, q 0:2, coefficient>
}

// The intervals add up.
// CHECK-LABEL: func.func @intervals(
// CHECK:       %r = rns.add %x, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>, !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 3)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 5)>
func.func @intervals(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 3)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 5)> {
  %r = rns.add %x, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>, !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 3)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 5)>
}

// What one operand leaves open follows from the other.
// CHECK-LABEL: func.func @half_known(
// CHECK:       %r = rns.add %x, %y : !rns.poly<8192, q 0:2, evaluation(?)>, !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
func.func @half_known(%x : !rns.poly<8192, q 0:2, evaluation(?)>, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)> {
  %r = rns.add %x, %y : !rns.poly<8192, q 0:2, evaluation(?)>, !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}
