// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// CHECK-LABEL: func.func @digits(
// CHECK:       %r = rns.base_convert %x {lift = "centred", correction = "none"} : !rns.poly<8192, q 0:2, digits = own(1), coefficient> -> !rns.poly<8192, q 0:2 p 0:1, digits = complement(1), coefficient>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2 p 0:1, digits = complement(1), coefficient>
func.func @digits(%x : !rns.poly<8192, q 0:2, digits = own(1), coefficient>) -> !rns.poly<8192, q 0:2 p 0:1, digits = complement(1), coefficient> {
  %r = rns.base_convert %x {lift = "centred", correction = "none"} : !rns.poly<8192, q 0:2, digits = own(1), coefficient> -> !rns.poly<8192, q 0:2 p 0:1, digits = complement(1), coefficient>
  return %r : !rns.poly<8192, q 0:2 p 0:1, digits = complement(1), coefficient>
}

// CHECK-LABEL: func.func @nearest(
// CHECK:       %r = rns.base_convert %x {lift = "canonical", correction = "nearest"} : !rns.poly<8192, p 0:2, coefficient> -> !rns.poly<8192, q 0:2, coefficient>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, coefficient>
func.func @nearest(%x : !rns.poly<8192, p 0:2, coefficient>) -> !rns.poly<8192, q 0:2, coefficient> {
  %r = rns.base_convert %x {lift = "canonical", correction = "nearest"} : !rns.poly<8192, p 0:2, coefficient> -> !rns.poly<8192, q 0:2, coefficient>
  return %r : !rns.poly<8192, q 0:2, coefficient>
}
