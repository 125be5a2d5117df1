// RUN: fhelium-opt %s -p convert-ckks-to-rns | filecheck %s

!ct = !ckks.ciphertext<level = 2, scale = 2**40>
!pt = !ckks.plaintext<level = 2, scale = 2**40>
!square = !ckks.ciphertext<level = 2, scale = 2**80>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297, 1099511627873], p = [1152921504606845473], digits = 3, scale = 2**40, secret = ternary, insecure>} {

// Each component times the plaintext.
// CHECK-LABEL: func.func @mul_plain(
// CHECK-NEXT:    %0 = rns.extract %x {first = 0 : i64, count = 1 : i64}
// CHECK-NEXT:    %1 = rns.extract %x {first = 1 : i64, count = 1 : i64}
// CHECK-NEXT:    %2 = rns.mul %0, %y
// CHECK-NEXT:    %3 = rns.mul %1, %y
// CHECK-NEXT:    %z = rns.pack %2, %3
// CHECK-NEXT:    func.return %z
func.func @mul_plain(%x : !ct, %y : !pt) -> !square {
  %z = ckks.mul_plain %x, %y : !ct, !pt
  return %z : !square
}
}
