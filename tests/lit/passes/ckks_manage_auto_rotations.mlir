// RUN: fhelium-opt %s -p ckks-manage,ckks-check | filecheck %s

module attributes {ckks.params = #ckks.params<
    ring_degree = 8192, q = [281474976546817, 274877202433, 274877562881, 274878136321],
    p = [281474976694273], digits = 4, scale = 2**38, secret = ternary>} {
// A product is rescaled before it is rotated: fewer limbs make the key switch cheaper. Rotations share it.
// CHECK-LABEL: func.func @before(
// CHECK-SAME: %x: !ckks.ciphertext<level = 1, scale = 2**152 / q2 / q3**2>) -> !ckks.ciphertext<level = 0, scale = 2**304 / q1 / q2**2 / q3**4>
// CHECK-NEXT: %a = ckks.mul %x, %x
// CHECK-NEXT: %a_1 = ckks.relinearize %a
// CHECK-NEXT: %a_2 = ckks.rescale %a_1
// CHECK-NEXT: %b = ckks.rotate %a_2 {steps = 1
// CHECK-NEXT: %d = ckks.rotate %a_2 {steps = 2
// CHECK-NEXT: %0 = ckks.add %b, %d
// CHECK-NEXT: %e = ckks.add %0, %a_2
// CHECK-NEXT: func.return %e
func.func @before(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %a = ckks.mul %x, %x : !ckks.ciphertext
  %b = ckks.rotate %a {steps = 1} : !ckks.ciphertext
  %c = ckks.add %a, %b : !ckks.ciphertext
  %d = ckks.rotate %a {steps = 2} : !ckks.ciphertext
  %e = ckks.add %c, %d : !ckks.ciphertext
  return %e : !ckks.ciphertext
}

// Rotated products that only go into a sum are rescaled after it, once.
// CHECK-LABEL: func.func @after(
// CHECK-SAME: %x: !ckks.ciphertext<level = 1, scale = 2**152 / q2 / q3**2>, %y: !ckks.ciphertext<level = 1, scale = 2**152 / q2 / q3**2>) -> !ckks.ciphertext<level = 0, scale = 2**304 / q1 / q2**2 / q3**4>
// CHECK-NEXT: %0 = arith.constant dense<[5.000000e-01, 2.500000e-01]>
// CHECK-NEXT: %p = ckks.encode %0 : tensor<2xf64> -> !ckks.plaintext<level = 1, scale = 2**152 / q2 / q3**2>
// CHECK-NEXT: %a = ckks.mul_plain %x, %p
// CHECK-NEXT: %b = ckks.rotate %a {steps = 1
// CHECK-NEXT: %c = ckks.mul %y, %y
// CHECK-NEXT: %c_1 = ckks.relinearize %c
// CHECK-NEXT: %d = ckks.conjugate %c_1
// CHECK-NEXT: %e = ckks.add %b, %d
// CHECK-NEXT: %e_1 = ckks.rescale %e
// CHECK-NEXT: func.return %e_1
func.func @after(%x : !ckks.ciphertext, %y : !ckks.ciphertext) -> !ckks.ciphertext {
  %v = arith.constant dense<[0.5, 0.25]> : tensor<2xf64>
  %p = ckks.encode %v : tensor<2xf64> -> !ckks.plaintext
  %a = ckks.mul_plain %x, %p : !ckks.ciphertext, !ckks.plaintext
  %b = ckks.rotate %a {steps = 1} : !ckks.ciphertext
  %c = ckks.mul %y, %y : !ckks.ciphertext
  %d = ckks.conjugate %c : !ckks.ciphertext
  %e = ckks.add %b, %d : !ckks.ciphertext
  return %e : !ckks.ciphertext
}

// The only product of a sum is rescaled before.
// CHECK-LABEL: func.func @alone(
// CHECK-SAME: %x: !ckks.ciphertext<level = 1, scale = 2**152 / q2 / q3**2>, %y: !ckks.ciphertext<level = 0, scale = 2**304 / q1 / q2**2 / q3**4>) -> !ckks.ciphertext<level = 0, scale = 2**304 / q1 / q2**2 / q3**4>
// CHECK-NEXT: %a = ckks.mul %x, %x
// CHECK-NEXT: %a_1 = ckks.relinearize %a
// CHECK-NEXT: %a_2 = ckks.rescale %a_1
// CHECK-NEXT: %b = ckks.rotate %a_2 {steps = 1
// CHECK-NEXT: %c = ckks.add %b, %y
// CHECK-NEXT: func.return %c
func.func @alone(%x : !ckks.ciphertext, %y : !ckks.ciphertext) -> !ckks.ciphertext {
  %a = ckks.mul %x, %x : !ckks.ciphertext
  %b = ckks.rotate %a {steps = 1} : !ckks.ciphertext
  %c = ckks.add %b, %y : !ckks.ciphertext
  return %c : !ckks.ciphertext
}
}
