// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// CHECK-LABEL: func.func @one(
// CHECK:       %r = rns.extract %x {first = 2 : i64, count = 1 : i64} : !rns.poly<8192, q 0:2, components = 3, evaluation(bit_reversed)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
func.func @one(%x : !rns.poly<8192, q 0:2, components = 3, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)> {
  %r = rns.extract %x {first = 2 : i64, count = 1 : i64} : !rns.poly<8192, q 0:2, components = 3, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// CHECK-LABEL: func.func @two(
// CHECK:       %r = rns.extract %x {first = 0 : i64, count = 2 : i64} : !rns.poly<8192, q 0:2, components = 3, evaluation(bit_reversed)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
func.func @two(%x : !rns.poly<8192, q 0:2, components = 3, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)> {
  %r = rns.extract %x {first = 0 : i64, count = 2 : i64} : !rns.poly<8192, q 0:2, components = 3, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
}
