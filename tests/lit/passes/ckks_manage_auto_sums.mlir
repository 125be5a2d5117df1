// RUN: fhelium-opt %s -p ckks-manage,ckks-check | filecheck %s
// RUN: fhelium-opt %s -p ckks-manage,ckks-manage,ckks-check | filecheck %s

module attributes {ckks.params = #ckks.params<
    ring_degree = 8192, q = [281474976546817, 274877202433, 274877562881, 274878136321],
    p = [281474976694273], digits = 4, scale = 2**38, secret = ternary>} {
// An addend that is no product becomes one by a constant 1; the sum is rescaled once.
// CHECK-LABEL: func.func @raised(
// CHECK-SAME: %x: !ckks.ciphertext<level = 1, scale = 2**152 / q2 / q3**2>) -> !ckks.ciphertext<level = 0, scale = 2**304 / q1 / q2**2 / q3**4>
// CHECK-NEXT: %xx = ckks.mul %x, %x
// CHECK-NEXT: %0 = arith.constant dense<1.000000e+00>
// CHECK-NEXT: %1 = ckks.encode %0 : tensor<1xf64> -> !ckks.plaintext<level = 1, scale = 2**152 / q2 / q3**2>
// CHECK-NEXT: %x_1 = ckks.mul_plain %x, %1
// CHECK-NEXT: %xx_1 = ckks.relinearize %xx
// CHECK-NEXT: %y = ckks.add %xx_1, %x_1
// CHECK-NEXT: %y_1 = ckks.rescale %y
// CHECK-NEXT: func.return %y_1
func.func @raised(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %xx = ckks.mul %x, %x : !ckks.ciphertext
  %y = ckks.add %xx, %x : !ckks.ciphertext
  return %y : !ckks.ciphertext
}

// A sum of products is relinearized and rescaled once, whatever the order of its terms.
// CHECK-LABEL: func.func @late(
// CHECK-SAME: %x: !ckks.ciphertext<level = 1, scale = 2**152 / q2 / q3**2>, %y: !ckks.ciphertext<level = 1, scale = 2**152 / q2 / q3**2>, %z: !ckks.ciphertext<level = 0, scale = 2**304 / q1 / q2**2 / q3**4>) -> !ckks.ciphertext<level = 0, scale = 2**304 / q1 / q2**2 / q3**4>
// CHECK-NEXT: %xx = ckks.mul %x, %x
// CHECK-NEXT: %yy = ckks.mul %y, %y
// CHECK-NEXT: %0 = ckks.sub %xx, %yy
// CHECK-NEXT: %1 = ckks.relinearize %0
// CHECK-NEXT: %2 = ckks.rescale %1
// CHECK-NEXT: %b = ckks.add %z, %2
// CHECK-NEXT: func.return %b
func.func @late(%x : !ckks.ciphertext, %y : !ckks.ciphertext, %z : !ckks.ciphertext) -> !ckks.ciphertext {
  %xx = ckks.mul %x, %x : !ckks.ciphertext
  %a = ckks.add %xx, %z : !ckks.ciphertext
  %yy = ckks.mul %y, %y : !ckks.ciphertext
  %b = ckks.sub %a, %yy : !ckks.ciphertext
  return %b : !ckks.ciphertext
}

// Terms of one form are added before they are converted, and a sum that starts with a minus loses it.
// CHECK-LABEL: func.func @grouped(
// CHECK-SAME: %x: !ckks.ciphertext<level = 2, scale = 2**76 / q3>, %y: !ckks.ciphertext<level = 2, scale = 2**76 / q3>) -> !ckks.ciphertext<level = 0, scale = 2**304 / q1 / q2**2 / q3**4>
// CHECK-NEXT: %xx = ckks.mul %x, %x
// CHECK-NEXT: %xx_1 = ckks.relinearize %xx
// CHECK-NEXT: %xx_2 = ckks.rescale %xx_1
// CHECK-NEXT: %0 = arith.constant dense<1.000000e+00>
// CHECK-NEXT: %1 = ckks.encode %0 : tensor<1xf64> -> !ckks.plaintext<level = 2, scale = 2**76 / q3>
// CHECK-NEXT: %x_1 = ckks.mul_plain %x, %1
// CHECK-NEXT: %x_2 = ckks.rescale %x_1
// CHECK-NEXT: %xxx = ckks.mul %xx_2, %x_2
// CHECK-NEXT: %d = ckks.mul %y, %x
// CHECK-NEXT: %2 = ckks.add %x, %y
// CHECK-NEXT: %3 = ckks.add %xxx, %xxx
// CHECK-NEXT: %d_1 = ckks.relinearize %d
// CHECK-NEXT: %d_2 = ckks.rescale %d_1
// CHECK-NEXT: %4 = ckks.mod_switch %2 {levels = 1
// CHECK-NEXT: %5 = arith.constant dense<1.000000e+00>
// CHECK-NEXT: %6 = ckks.encode %5 : tensor<1xf64> -> !ckks.plaintext<level = 1, scale = 2**228 / q2**2 / q3**3>
// CHECK-NEXT: %7 = ckks.mul_plain %4, %6
// CHECK-NEXT: %8 = arith.constant dense<1.000000e+00>
// CHECK-NEXT: %9 = ckks.encode %8 : tensor<1xf64> -> !ckks.plaintext<level = 1, scale = 2**152 / q2 / q3**2>
// CHECK-NEXT: %d_3 = ckks.mul_plain %d_2, %9
// CHECK-NEXT: %10 = ckks.sub %7, %d_3
// CHECK-NEXT: %11 = ckks.relinearize %3
// CHECK-NEXT: %e = ckks.sub %10, %11
// CHECK-NEXT: %e_1 = ckks.rescale %e
// CHECK-NEXT: func.return %e_1
func.func @grouped(%x : !ckks.ciphertext, %y : !ckks.ciphertext) -> !ckks.ciphertext {
  %xx = ckks.mul %x, %x : !ckks.ciphertext
  %xxx = ckks.mul %xx, %x : !ckks.ciphertext
  %a = ckks.sub %x, %xxx : !ckks.ciphertext
  %b = ckks.sub %y, %xxx : !ckks.ciphertext
  %c = ckks.add %a, %b : !ckks.ciphertext
  %d = ckks.mul %y, %x : !ckks.ciphertext
  %e = ckks.sub %c, %d : !ckks.ciphertext
  return %e : !ckks.ciphertext
}

// A partial sum that others use, or that promises a range, is a value of its own.
// CHECK-LABEL: func.func @partial(
// CHECK-SAME: %x: !ckks.ciphertext<level = 1, scale = 2**152 / q2 / q3**2>) -> (!ckks.ciphertext<level = 0, scale = 2**304 / q1 / q2**2 / q3**4>, !ckks.ciphertext<level = 0, scale = 2**304 / q1 / q2**2 / q3**4>)
// CHECK-NEXT: %xx = ckks.mul %x, %x
// CHECK-NEXT: %0 = arith.constant dense<1.000000e+00>
// CHECK-NEXT: %1 = ckks.encode %0 : tensor<1xf64> -> !ckks.plaintext<level = 1, scale = 2**152 / q2 / q3**2>
// CHECK-NEXT: %x_1 = ckks.mul_plain %x, %1
// CHECK-NEXT: %xx_1 = ckks.relinearize %xx
// CHECK-NEXT: %a = ckks.add %xx_1, %x_1
// CHECK-NEXT: %b = ckks.add %xx_1, %a {ckks.range = 1.500000e+00
// CHECK-NEXT: %c = ckks.sub %b, %xx_1
// CHECK-NEXT: %a_1 = ckks.rescale %a
// CHECK-NEXT: %c_1 = ckks.rescale %c
// CHECK-NEXT: func.return %a_1, %c_1
func.func @partial(%x : !ckks.ciphertext) -> (!ckks.ciphertext, !ckks.ciphertext) {
  %xx = ckks.mul %x, %x : !ckks.ciphertext
  %a = ckks.add %xx, %x : !ckks.ciphertext
  %b = ckks.add %a, %xx {ckks.range = 1.5 : f64} : !ckks.ciphertext
  %c = ckks.sub %b, %xx : !ckks.ciphertext
  return %a, %c : !ckks.ciphertext, !ckks.ciphertext
}
}
