// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// CHECK-LABEL: func.func @to_q(
// CHECK:       %r = rns.restrict %x : !rns.poly<8192, q 0:2 p 0:1, components = 2, evaluation(bit_reversed)> -> !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
func.func @to_q(%x : !rns.poly<8192, q 0:2 p 0:1, components = 2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)> {
  %r = rns.restrict %x : !rns.poly<8192, q 0:2 p 0:1, components = 2, evaluation(bit_reversed)> -> !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
}

// CHECK-LABEL: func.func @to_p(
// CHECK:       %r = rns.restrict %x : !rns.poly<8192, q 0:2 p 0:1, components = 2, evaluation(bit_reversed)> -> !rns.poly<8192, p 0:1, components = 2, evaluation(bit_reversed)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, p 0:1, components = 2, evaluation(bit_reversed)>
func.func @to_p(%x : !rns.poly<8192, q 0:2 p 0:1, components = 2, evaluation(bit_reversed)>) -> !rns.poly<8192, p 0:1, components = 2, evaluation(bit_reversed)> {
  %r = rns.restrict %x : !rns.poly<8192, q 0:2 p 0:1, components = 2, evaluation(bit_reversed)> -> !rns.poly<8192, p 0:1, components = 2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, p 0:1, components = 2, evaluation(bit_reversed)>
}

// CHECK-LABEL: func.func @last(
// CHECK:       %r = rns.restrict %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)> -> !rns.poly<8192, q 1:2, evaluation(bit_reversed)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 1:2, evaluation(bit_reversed)>
func.func @last(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 1:2, evaluation(bit_reversed)> {
  %r = rns.restrict %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)> -> !rns.poly<8192, q 1:2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 1:2, evaluation(bit_reversed)>
}
