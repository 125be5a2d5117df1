// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// CHECK-LABEL: func.func @reduce(
// CHECK:       %r = rns.set_representative %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 4)> -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
func.func @reduce(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 4)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)> {
  %r = rns.set_representative %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 4)> -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
}

// CHECK-LABEL: func.func @convert(
// CHECK:       %r = rns.set_representative %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)> -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>
func.func @convert(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)> {
  %r = rns.set_representative %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)> -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>
}

// CHECK-LABEL: func.func @open(
// CHECK:       %r = rns.set_representative %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)> -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
func.func @open(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)> {
  %r = rns.set_representative %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)> -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}
