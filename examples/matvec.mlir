// 8x8 matrix times encrypted vector, by diagonals: y = sum over d of diag_d * (x rotated left by d), where
// diag_d[i] = A[i][(i + d) mod 8] (Halevi and Shoup, "Algorithms in HElib", 2014). Here
// A[i][j] = (8 i + j) / 64. The vector is repeated to fill the slots, so that rotations wrap after 8.
//
//   fhelium-run examples/matvec.mlir

module attributes {ckks.params = #ckks.params<
  ring_degree = 8192, q = [1125899906629633, 1099511480321], p = [1125899906826241],
  digits = 2, scale = 2**40, secret = ternary>} {

func.func @matvec(%x : !ckks.ciphertext {ckks.slots = 8 : i64}) -> !ckks.ciphertext {
  %c0 = arith.constant dense<[0.0, 0.140625, 0.28125, 0.421875, 0.5625, 0.703125, 0.84375, 0.984375]> : tensor<8xf64>
  %diagonal0 = ckks.encode %c0 : tensor<8xf64> -> !ckks.plaintext
  %sum0 = ckks.mul_plain %x, %diagonal0 : !ckks.ciphertext, !ckks.plaintext

  %x1 = ckks.rotate %x {steps = 1} : !ckks.ciphertext
  %c1 = arith.constant dense<[0.015625, 0.15625, 0.296875, 0.4375, 0.578125, 0.71875, 0.859375, 0.875]> : tensor<8xf64>
  %diagonal1 = ckks.encode %c1 : tensor<8xf64> -> !ckks.plaintext
  %term1 = ckks.mul_plain %x1, %diagonal1 : !ckks.ciphertext, !ckks.plaintext
  %sum1 = ckks.add %sum0, %term1 : !ckks.ciphertext

  %x2 = ckks.rotate %x {steps = 2} : !ckks.ciphertext
  %c2 = arith.constant dense<[0.03125, 0.171875, 0.3125, 0.453125, 0.59375, 0.734375, 0.75, 0.890625]> : tensor<8xf64>
  %diagonal2 = ckks.encode %c2 : tensor<8xf64> -> !ckks.plaintext
  %term2 = ckks.mul_plain %x2, %diagonal2 : !ckks.ciphertext, !ckks.plaintext
  %sum2 = ckks.add %sum1, %term2 : !ckks.ciphertext

  %x3 = ckks.rotate %x {steps = 3} : !ckks.ciphertext
  %c3 = arith.constant dense<[0.046875, 0.1875, 0.328125, 0.46875, 0.609375, 0.625, 0.765625, 0.90625]> : tensor<8xf64>
  %diagonal3 = ckks.encode %c3 : tensor<8xf64> -> !ckks.plaintext
  %term3 = ckks.mul_plain %x3, %diagonal3 : !ckks.ciphertext, !ckks.plaintext
  %sum3 = ckks.add %sum2, %term3 : !ckks.ciphertext

  %x4 = ckks.rotate %x {steps = 4} : !ckks.ciphertext
  %c4 = arith.constant dense<[0.0625, 0.203125, 0.34375, 0.484375, 0.5, 0.640625, 0.78125, 0.921875]> : tensor<8xf64>
  %diagonal4 = ckks.encode %c4 : tensor<8xf64> -> !ckks.plaintext
  %term4 = ckks.mul_plain %x4, %diagonal4 : !ckks.ciphertext, !ckks.plaintext
  %sum4 = ckks.add %sum3, %term4 : !ckks.ciphertext

  %x5 = ckks.rotate %x {steps = 5} : !ckks.ciphertext
  %c5 = arith.constant dense<[0.078125, 0.21875, 0.359375, 0.375, 0.515625, 0.65625, 0.796875, 0.9375]> : tensor<8xf64>
  %diagonal5 = ckks.encode %c5 : tensor<8xf64> -> !ckks.plaintext
  %term5 = ckks.mul_plain %x5, %diagonal5 : !ckks.ciphertext, !ckks.plaintext
  %sum5 = ckks.add %sum4, %term5 : !ckks.ciphertext

  %x6 = ckks.rotate %x {steps = 6} : !ckks.ciphertext
  %c6 = arith.constant dense<[0.09375, 0.234375, 0.25, 0.390625, 0.53125, 0.671875, 0.8125, 0.953125]> : tensor<8xf64>
  %diagonal6 = ckks.encode %c6 : tensor<8xf64> -> !ckks.plaintext
  %term6 = ckks.mul_plain %x6, %diagonal6 : !ckks.ciphertext, !ckks.plaintext
  %sum6 = ckks.add %sum5, %term6 : !ckks.ciphertext

  %x7 = ckks.rotate %x {steps = 7} : !ckks.ciphertext
  %c7 = arith.constant dense<[0.109375, 0.125, 0.265625, 0.40625, 0.546875, 0.6875, 0.828125, 0.96875]> : tensor<8xf64>
  %diagonal7 = ckks.encode %c7 : tensor<8xf64> -> !ckks.plaintext
  %term7 = ckks.mul_plain %x7, %diagonal7 : !ckks.ciphertext, !ckks.plaintext
  %sum7 = ckks.add %sum6, %term7 : !ckks.ciphertext

  %y = ckks.rescale %sum7 : !ckks.ciphertext
  return %y : !ckks.ciphertext
}

}
