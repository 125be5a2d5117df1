// RUN: fhelium-opt %s -p ckks-manage,ckks-check | filecheck %s

module attributes {ckks.params = #ckks.params<
    ring_degree = 8192, q = [281474976546817, 274877202433, 274877562881, 274878136321],
    p = [281474976694273], digits = 4, scale = 2**38, secret = ternary>} {
// A constant is encoded for each use, at the use's level: at S in a product, at the other operand's scale in a sum.
// CHECK-LABEL: func.func @constants(
// CHECK-SAME: %x: !ckks.ciphertext<level = 2, scale = 2**76 / q3>) -> !ckks.ciphertext<level = 0, scale = 2**304 / q1 / q2**2 / q3**4>
// CHECK-NEXT: %0 = arith.constant dense<5.000000e-01>
// CHECK-NEXT: %p = ckks.encode %0 : tensor<1xf64> -> !ckks.plaintext<level = 2, scale = 2**76 / q3>
// CHECK-NEXT: %a = ckks.add_plain %x, %p
// CHECK-NEXT: %b = ckks.mul %a, %a
// CHECK-NEXT: %1 = arith.constant dense<5.000000e-01>
// CHECK-NEXT: %p_1 = ckks.encode %1 : tensor<1xf64> -> !ckks.plaintext<level = 2, scale = 2**152 / q3**2>
// CHECK-NEXT: %c = ckks.add_plain %b, %p_1
// CHECK-NEXT: %c_1 = ckks.relinearize %c
// CHECK-NEXT: %c_2 = ckks.rescale %c_1
// CHECK-NEXT: %2 = arith.constant dense<5.000000e-01>
// CHECK-NEXT: %p_2 = ckks.encode %2 : tensor<1xf64> -> !ckks.plaintext<level = 1, scale = 2**152 / q2 / q3**2>
// CHECK-NEXT: %d = ckks.mul_plain %c_2, %p_2
// CHECK-NEXT: %f = ckks.mul_plain %c_2, %p_2
// CHECK-NEXT: %3 = ckks.add %d, %f
// CHECK-NEXT: %4 = arith.constant dense<5.000000e-01>
// CHECK-NEXT: %p_3 = ckks.encode %4 : tensor<1xf64> -> !ckks.plaintext<level = 1, scale = 2**304 / q2**2 / q3**4>
// CHECK-NEXT: %g = ckks.sub_plain %3, %p_3
// CHECK-NEXT: %g_1 = ckks.rescale %g
// CHECK-NEXT: func.return %g_1
func.func @constants(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %v = arith.constant dense<0.5> : tensor<1xf64>
  %p = ckks.encode %v : tensor<1xf64> -> !ckks.plaintext
  %a = ckks.add_plain %x, %p : !ckks.ciphertext, !ckks.plaintext
  %b = ckks.mul %a, %a : !ckks.ciphertext
  %c = ckks.add_plain %b, %p : !ckks.ciphertext, !ckks.plaintext
  %d = ckks.mul_plain %c, %p : !ckks.ciphertext, !ckks.plaintext
  %e = ckks.sub_plain %d, %p : !ckks.ciphertext, !ckks.plaintext
  %f = ckks.mul_plain %c, %p : !ckks.ciphertext, !ckks.plaintext
  %g = ckks.add %e, %f : !ckks.ciphertext
  return %g : !ckks.ciphertext
}

// A sum of products with constants is rescaled once.
// CHECK-LABEL: func.func @weighted(
// CHECK-SAME: %x: !ckks.ciphertext<level = 1, scale = 2**152 / q2 / q3**2>, %y: !ckks.ciphertext<level = 1, scale = 2**152 / q2 / q3**2>) -> !ckks.ciphertext<level = 0, scale = 2**304 / q1 / q2**2 / q3**4>
// CHECK-NEXT: %0 = arith.constant dense<[5.000000e-01, 2.500000e-01]>
// CHECK-NEXT: %p = ckks.encode %0 : tensor<2xf64> -> !ckks.plaintext<level = 1, scale = 2**152 / q2 / q3**2>
// CHECK-NEXT: %a = ckks.mul_plain %x, %p
// CHECK-NEXT: %1 = arith.constant dense<[1.250000e-01, 7.500000e-01]>
// CHECK-NEXT: %q = ckks.encode %1 : tensor<2xf64> -> !ckks.plaintext<level = 1, scale = 2**152 / q2 / q3**2>
// CHECK-NEXT: %b = ckks.mul_plain %y, %q
// CHECK-NEXT: %c = ckks.add %a, %b
// CHECK-NEXT: %c_1 = ckks.rescale %c
// CHECK-NEXT: func.return %c_1
func.func @weighted(%x : !ckks.ciphertext, %y : !ckks.ciphertext) -> !ckks.ciphertext {
  %v = arith.constant dense<[0.5, 0.25]> : tensor<2xf64>
  %p = ckks.encode %v : tensor<2xf64> -> !ckks.plaintext
  %u = arith.constant dense<[0.125, 0.75]> : tensor<2xf64>
  %q = ckks.encode %u : tensor<2xf64> -> !ckks.plaintext
  %a = ckks.mul_plain %x, %p : !ckks.ciphertext, !ckks.plaintext
  %b = ckks.mul_plain %y, %q : !ckks.ciphertext, !ckks.plaintext
  %c = ckks.add %a, %b : !ckks.ciphertext
  return %c : !ckks.ciphertext
}

// A plaintext argument gets the level and the scale that its uses need.
// CHECK-LABEL: func.func @arguments(
// CHECK-SAME: %x: !ckks.ciphertext<level = 2, scale = 2**76 / q3>, %p: !ckks.plaintext<level = 2, scale = 2**152 / q3**2>, %q: !ckks.plaintext<level = 1, scale = 2**152 / q2 / q3**2>) -> !ckks.ciphertext<level = 0, scale = 2**304 / q1 / q2**2 / q3**4>
// CHECK-NEXT: %a = ckks.mul %x, %x
// CHECK-NEXT: %b = ckks.add_plain %a, %p
// CHECK-NEXT: %b_1 = ckks.relinearize %b
// CHECK-NEXT: %b_2 = ckks.rescale %b_1
// CHECK-NEXT: %c = ckks.mul_plain %b_2, %q
// CHECK-NEXT: %c_1 = ckks.rescale %c
// CHECK-NEXT: func.return %c_1
func.func @arguments(%x : !ckks.ciphertext, %p : !ckks.plaintext, %q : !ckks.plaintext) -> !ckks.ciphertext {
  %a = ckks.mul %x, %x : !ckks.ciphertext
  %b = ckks.add_plain %a, %p : !ckks.ciphertext, !ckks.plaintext
  %c = ckks.mul_plain %b, %q : !ckks.ciphertext, !ckks.plaintext
  return %c : !ckks.ciphertext
}

// One that no result depends on gets the level and the scale of the start, or keeps what it states.
// CHECK-LABEL: func.func @unused(
// CHECK-SAME: %x: !ckks.ciphertext<level = 0, scale = [[SCALE:[^>]*]]>, %p: !ckks.plaintext<level = 0, scale = [[SCALE]]>, %q: !ckks.plaintext<level = 2, scale = 2**30>)
func.func @unused(%x : !ckks.ciphertext, %p : !ckks.plaintext, %q : !ckks.plaintext<level = 2, scale = 2**30>)
    -> !ckks.ciphertext {
  %a = ckks.mul_plain %x, %p : !ckks.ciphertext, !ckks.plaintext
  %b = ckks.add %x, %x : !ckks.ciphertext
  return %b : !ckks.ciphertext
}
}
