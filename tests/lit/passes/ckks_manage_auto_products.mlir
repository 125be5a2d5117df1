// RUN: fhelium-opt %s -p ckks-manage,ckks-check | filecheck %s

module attributes {ckks.params = #ckks.params<
    ring_degree = 8192, q = [281474976546817, 274877202433, 274877562881, 274878136321],
    p = [281474976694273], digits = 4, scale = 2**38, secret = ternary>} {
// The earlier operand of a product is brought down to the level of the later one, to exactly its scale.
// CHECK-LABEL: func.func @cube(
// CHECK-SAME: %x: !ckks.ciphertext<level = 2, scale = 2**76 / q3>) -> !ckks.ciphertext<level = 0, scale = 2**304 / q1 / q2**2 / q3**4>
// CHECK-NEXT: %xx = ckks.mul %x, %x
// CHECK-NEXT: %xx_1 = ckks.relinearize %xx
// CHECK-NEXT: %xx_2 = ckks.rescale %xx_1
// CHECK-NEXT: %0 = arith.constant dense<1.000000e+00>
// CHECK-NEXT: %1 = ckks.encode %0 : tensor<1xf64> -> !ckks.plaintext<level = 2, scale = 2**76 / q3>
// CHECK-NEXT: %x_1 = ckks.mul_plain %x, %1
// CHECK-NEXT: %x_2 = ckks.rescale %x_1
// CHECK-NEXT: %y = ckks.mul %xx_2, %x_2
// CHECK-NEXT: %y_1 = ckks.relinearize %y
// CHECK-NEXT: %y_2 = ckks.rescale %y_1
// CHECK-NEXT: func.return %y_2
func.func @cube(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %xx = ckks.mul %x, %x : !ckks.ciphertext
  %y = ckks.mul %xx, %x : !ckks.ciphertext
  return %y : !ckks.ciphertext
}

// Over several levels: the primes in between are dropped first. Uses share the conversion.
// CHECK-LABEL: func.func @shared(
// CHECK-SAME: %x: !ckks.ciphertext<level = 3, scale = 2**38>) -> (!ckks.ciphertext<level = 0, scale = 2**304 / q1 / q2**2 / q3**4>, !ckks.ciphertext<level = 0, scale = 2**304 / q1 / q2**2 / q3**4>)
// CHECK-NEXT: %x2 = ckks.mul %x, %x
// CHECK-NEXT: %x2_1 = ckks.relinearize %x2
// CHECK-NEXT: %x2_2 = ckks.rescale %x2_1
// CHECK-NEXT: %x4 = ckks.mul %x2_2, %x2_2
// CHECK-NEXT: %x4_1 = ckks.relinearize %x4
// CHECK-NEXT: %x4_2 = ckks.rescale %x4_1
// CHECK-NEXT: %x_1 = ckks.mod_switch %x {levels = 1
// CHECK-NEXT: %0 = arith.constant dense<1.000000e+00>
// CHECK-NEXT: %1 = ckks.encode %0 : tensor<1xf64> -> !ckks.plaintext<level = 2, scale = 2**114 / q3**2>
// CHECK-NEXT: %x_2 = ckks.mul_plain %x_1, %1
// CHECK-NEXT: %x_3 = ckks.rescale %x_2
// CHECK-NEXT: %x5 = ckks.mul %x4_2, %x_3
// CHECK-NEXT: %n = ckks.negate %x4_2
// CHECK-NEXT: %m5 = ckks.mul %x_3, %n
// CHECK-NEXT: %x5_1 = ckks.relinearize %x5
// CHECK-NEXT: %x5_2 = ckks.rescale %x5_1
// CHECK-NEXT: %m5_1 = ckks.relinearize %m5
// CHECK-NEXT: %m5_2 = ckks.rescale %m5_1
// CHECK-NEXT: func.return %x5_2, %m5_2
func.func @shared(%x : !ckks.ciphertext) -> (!ckks.ciphertext, !ckks.ciphertext) {
  %x2 = ckks.mul %x, %x : !ckks.ciphertext
  %x4 = ckks.mul %x2, %x2 : !ckks.ciphertext
  %x5 = ckks.mul %x4, %x : !ckks.ciphertext
  %n = ckks.negate %x4 : !ckks.ciphertext
  %m5 = ckks.mul %x, %n : !ckks.ciphertext
  return %x5, %m5 : !ckks.ciphertext, !ckks.ciphertext
}

// An argument that is needed late is encrypted there: no conversion.
// CHECK-LABEL: func.func @late_argument(
// CHECK-SAME: %x: !ckks.ciphertext<level = 3, scale = 2**38>, %y: !ckks.ciphertext<level = 2, scale = 2**76 / q3>, %z: !ckks.ciphertext<level = 2, scale = 2**76 / q3>, %w: !ckks.ciphertext<level = 0, scale = 2**304 / q1 / q2**2 / q3**4>) -> !ckks.ciphertext<level = 0, scale = 2**304 / q1 / q2**2 / q3**4>
// CHECK-NEXT: %xx = ckks.mul %x, %x
// CHECK-NEXT: %yz = ckks.mul %y, %z
// CHECK-NEXT: %xx_1 = ckks.relinearize %xx
// CHECK-NEXT: %xx_2 = ckks.rescale %xx_1
// CHECK-NEXT: %x4 = ckks.mul %xx_2, %xx_2
// CHECK-NEXT: %x4_1 = ckks.relinearize %x4
// CHECK-NEXT: %x4_2 = ckks.rescale %x4_1
// CHECK-NEXT: %yz_1 = ckks.relinearize %yz
// CHECK-NEXT: %yz_2 = ckks.rescale %yz_1
// CHECK-NEXT: %p = ckks.mul %x4_2, %yz_2
// CHECK-NEXT: %p_1 = ckks.relinearize %p
// CHECK-NEXT: %p_2 = ckks.rescale %p_1
// CHECK-NEXT: %q = ckks.add %w, %p_2
// CHECK-NEXT: func.return %q
func.func @late_argument(%x : !ckks.ciphertext, %y : !ckks.ciphertext, %z : !ckks.ciphertext, %w : !ckks.ciphertext) -> !ckks.ciphertext {
  %xx = ckks.mul %x, %x : !ckks.ciphertext
  %yz = ckks.mul %y, %z : !ckks.ciphertext
  %x4 = ckks.mul %xx, %xx : !ckks.ciphertext
  %p = ckks.mul %x4, %yz : !ckks.ciphertext
  %q = ckks.add %p, %w : !ckks.ciphertext
  return %q : !ckks.ciphertext
}

// What no output depends on is not managed, and does not count as a use.
// CHECK-LABEL: func.func @dead(
// CHECK-SAME: %x: !ckks.ciphertext<level = 1, scale = 2**152 / q2 / q3**2>) -> !ckks.ciphertext<level = 0, scale = 2**304 / q1 / q2**2 / q3**4>
// CHECK-NEXT: %a = ckks.mul %x, %x
// CHECK-NEXT: %a_1 = ckks.relinearize %a
// CHECK-NEXT: %a_2 = ckks.rescale %a_1
// CHECK-NEXT: func.return %a_2
func.func @dead(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %a = ckks.mul %x, %x : !ckks.ciphertext
  %b = ckks.mul %a, %a : !ckks.ciphertext
  %c = ckks.mul %b, %b : !ckks.ciphertext
  %d = ckks.mul %c, %c : !ckks.ciphertext
  return %a : !ckks.ciphertext
}
}
