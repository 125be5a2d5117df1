// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// CHECK-LABEL: func.func @two(
// CHECK:       %r = rns.pack %x, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
func.func @two(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)> {
  %r = rns.pack %x, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
}

// CHECK-LABEL: func.func @three(
// CHECK:       %r = rns.pack %x, %y, %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, components = 3, evaluation(bit_reversed)>
func.func @three(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, components = 3, evaluation(bit_reversed)> {
  %r = rns.pack %x, %y, %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, components = 3, evaluation(bit_reversed)>
}

// The widest interval holds for all components.
// CHECK-LABEL: func.func @intervals(
// CHECK:       %r = rns.pack %x, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>, !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 5)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed), mont64(e = 0, below = 5)>
func.func @intervals(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 5)>) -> !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed), mont64(e = 0, below = 5)> {
  %r = rns.pack %x, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>, !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 5)>
  return %r : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed), mont64(e = 0, below = 5)>
}
