// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// CHECK-LABEL: func.func @one(
// CHECK:       %r = rns.digits %x {size = 1 : i64} : !rns.poly<8192, q 0:2, coefficient>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, digits = own(1), coefficient>
func.func @one(%x : !rns.poly<8192, q 0:2, coefficient>) -> !rns.poly<8192, q 0:2, digits = own(1), coefficient> {
  %r = rns.digits %x {size = 1 : i64} : !rns.poly<8192, q 0:2, coefficient>
  return %r : !rns.poly<8192, q 0:2, digits = own(1), coefficient>
}

// Five limbs in digits of two: the last one has one.
// CHECK-LABEL: func.func @ragged(
// CHECK:       %r = rns.digits %x {size = 2 : i64} : !rns.poly<8192, q 0:5, coefficient>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:5, digits = own(2), coefficient>
func.func @ragged(%x : !rns.poly<8192, q 0:5, coefficient>) -> !rns.poly<8192, q 0:5, digits = own(2), coefficient> {
  %r = rns.digits %x {size = 2 : i64} : !rns.poly<8192, q 0:5, coefficient>
  return %r : !rns.poly<8192, q 0:5, digits = own(2), coefficient>
}
