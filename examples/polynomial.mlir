// p(x) = 1 + x + x^2/2 + x^3/6 + x^4/24 of an encrypted x in [-1, 1], slot by slot: exp(x) to degree 4.
//
// Evaluated as c0 + c1 x + x^2 (c2 + c3 x + c4 x^2) in three levels. Both sides of every addition have
// exactly the same scale, because the coefficients are encoded at scales that make up for the primes
// rescaled away: x^2 has scale 2**76 / q3 after its rescale, so c4 x^2 has 2**114 / q3 where c4 has
// 2**38, and c3 must have 2**76 / q3 for c3 x to have that scale too. c0 and c2 take the scale of
// the sum that they join.
//
//   fhelium-run examples/polynomial.mlir

module attributes {ckks.params = #ckks.params<
  ring_degree = 8192, q = [281474976546817, 274877202433, 274877562881, 274878136321],
  p = [281474976694273], digits = 4, scale = 2**38, secret = ternary>} {

func.func @polynomial(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %v0 = arith.constant dense<1.0> : tensor<1xf64>
  %v1 = arith.constant dense<1.0> : tensor<1xf64>
  %v2 = arith.constant dense<0.5> : tensor<1xf64>
  %v3 = arith.constant dense<0.16666666666666666> : tensor<1xf64>
  %v4 = arith.constant dense<0.041666666666666664> : tensor<1xf64>
  %c0 = ckks.encode %v0 : tensor<1xf64> -> !ckks.plaintext
  %c1 = ckks.encode %v1 : tensor<1xf64> -> !ckks.plaintext<scale = 2**152 / q2 / q3**2>
  %c2 = ckks.encode %v2 : tensor<1xf64> -> !ckks.plaintext
  %c3 = ckks.encode %v3 : tensor<1xf64> -> !ckks.plaintext<scale = 2**76 / q3>
  %c4 = ckks.encode %v4 : tensor<1xf64> -> !ckks.plaintext

  // x^2 at level 2.
  %product = ckks.mul %x, %x : !ckks.ciphertext
  %square = ckks.relinearize %product : !ckks.ciphertext
  %xx = ckks.rescale %square : !ckks.ciphertext

  // c2 + c3 x + c4 x^2 at level 2, then rescaled to level 1.
  %x_at2 = ckks.mod_switch %x : !ckks.ciphertext
  %t3 = ckks.mul_plain %x_at2, %c3 : !ckks.ciphertext, !ckks.plaintext<scale = 2**76 / q3>
  %t4 = ckks.mul_plain %xx, %c4 : !ckks.ciphertext, !ckks.plaintext
  %t34 = ckks.add %t3, %t4 : !ckks.ciphertext
  %t234 = ckks.add_plain %t34, %c2 : !ckks.ciphertext, !ckks.plaintext
  %high = ckks.rescale %t234 : !ckks.ciphertext

  // c0 + c1 x + x^2 high at level 1, then rescaled to level 0.
  %xx_at1 = ckks.mod_switch %xx : !ckks.ciphertext
  %raised = ckks.mul %xx_at1, %high : !ckks.ciphertext
  %h = ckks.relinearize %raised : !ckks.ciphertext
  %x_at1 = ckks.mod_switch %x {levels = 2} : !ckks.ciphertext
  %t1 = ckks.mul_plain %x_at1, %c1 : !ckks.ciphertext, !ckks.plaintext<scale = 2**152 / q2 / q3**2>
  %sum = ckks.add %t1, %h : !ckks.ciphertext
  %all = ckks.add_plain %sum, %c0 : !ckks.ciphertext, !ckks.plaintext
  %y = ckks.rescale %all : !ckks.ciphertext
  return %y : !ckks.ciphertext
}

}
