// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// CHECK-LABEL: func.func @plain(
// CHECK:       %r = rns.negate %x : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
func.func @plain(%x : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)> {
  %r = rns.negate %x : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
}

// Zero becomes a multiple of q: [0, 2q) becomes [0, 3q).
// CHECK-LABEL: func.func @interval(
// CHECK:       %r = rns.negate %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 3)>
func.func @interval(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 3)> {
  %r = rns.negate %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 3)>
}
