// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// CHECK-LABEL: func.func @open(
// CHECK:       %r = ntt.inverse %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, coefficient>
func.func @open(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, coefficient> {
  %r = ntt.inverse %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, coefficient>
}

// The factor N^-1 takes an R with it.
// CHECK-LABEL: func.func @exponent(
// CHECK:       %r = ntt.inverse %x {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = -1>} : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, coefficient, mont64(e = 0, below = 2)>
func.func @exponent(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>) -> !rns.poly<8192, q 0:2, coefficient, mont64(e = 0, below = 2)> {
  %r = ntt.inverse %x {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = -1>} : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>
  return %r : !rns.poly<8192, q 0:2, coefficient, mont64(e = 0, below = 2)>
}
