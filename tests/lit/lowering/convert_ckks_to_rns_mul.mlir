// RUN: fhelium-opt %s -p convert-ckks-to-rns | filecheck %s

!ct = !ckks.ciphertext<level = 2, scale = 2**40>
!ct3 = !ckks.ciphertext<level = 2, scale = 2**80, size = 3>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297, 1099511627873], p = [1152921504606845473], digits = 3, scale = 2**40, secret = ternary, insecure>} {

// (x0, x1) * (y0, y1) = (x0 y0, x0 y1 + x1 y0, x1 y1).
// CHECK-LABEL: func.func @mul(
// CHECK-NEXT:    %0 = rns.extract %x {first = 0 : i64, count = 1 : i64}
// CHECK-NEXT:    %1 = rns.extract %x {first = 1 : i64, count = 1 : i64}
// CHECK-NEXT:    %2 = rns.extract %y {first = 0 : i64, count = 1 : i64}
// CHECK-NEXT:    %3 = rns.extract %y {first = 1 : i64, count = 1 : i64}
// CHECK-NEXT:    %4 = rns.mul %0, %2
// CHECK-NEXT:    %5 = rns.mul %0, %3
// CHECK-NEXT:    %6 = rns.mul %1, %2
// CHECK-NEXT:    %7 = rns.add %5, %6
// CHECK-NEXT:    %8 = rns.mul %1, %3
// CHECK-NEXT:    %z = rns.pack %4, %7, %8
// CHECK-NEXT:    func.return %z
func.func @mul(%x : !ct, %y : !ct) -> !ct3 {
  %z = ckks.mul %x, %y : !ct
  return %z : !ct3
}

// A square takes three products, not four.
// CHECK-LABEL: func.func @square(
// CHECK-NEXT:    %0 = rns.extract %x {first = 0 : i64, count = 1 : i64}
// CHECK-NEXT:    %1 = rns.extract %x {first = 1 : i64, count = 1 : i64}
// CHECK-NEXT:    %2 = rns.mul %0, %0
// CHECK-NEXT:    %3 = rns.mul %0, %1
// CHECK-NEXT:    %4 = rns.add %3, %3
// CHECK-NEXT:    %5 = rns.mul %1, %1
// CHECK-NEXT:    %z = rns.pack %2, %4, %5
// CHECK-NEXT:    func.return %z
func.func @square(%x : !ct) -> !ct3 {
  %z = ckks.mul %x, %x : !ct
  return %z : !ct3
}
}
