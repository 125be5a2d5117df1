// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// CHECK-LABEL: func.func @evaluation(
// CHECK:       %r = rns.automorphism %x {galois = 5 : i64} : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
func.func @evaluation(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)> {
  %r = rns.automorphism %x {galois = 5 : i64} : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
}

// Some coefficients are negated.
// CHECK-LABEL: func.func @coefficient(
// CHECK:       %r = rns.automorphism %x {galois = 16383 : i64} : !rns.poly<8192, q 0:2, coefficient, mont64(e = 0, below = 2)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, coefficient, mont64(e = 0, below = 3)>
func.func @coefficient(%x : !rns.poly<8192, q 0:2, coefficient, mont64(e = 0, below = 2)>) -> !rns.poly<8192, q 0:2, coefficient, mont64(e = 0, below = 3)> {
  %r = rns.automorphism %x {galois = 16383 : i64} : !rns.poly<8192, q 0:2, coefficient, mont64(e = 0, below = 2)>
  return %r : !rns.poly<8192, q 0:2, coefficient, mont64(e = 0, below = 3)>
}
