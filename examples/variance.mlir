// Variance of an encrypted vector of 4096 numbers, mean(x^2) - mean(x)^2, in two levels.
//
//   fhelium-run examples/variance.mlir

module attributes {ckks.params = #ckks.params<
  ring_degree = 8192, q = [1125899906629633, 1099511922689, 1099511480321],
  p = [1125899906826241], digits = 3, scale = 2**40, secret = ternary>} {

func.func @variance(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %v = arith.constant dense<0.000244140625> : tensor<1xf64>  // 1 / 4096
  %factor = ckks.encode %v : tensor<1xf64> -> !ckks.plaintext
  %scaled = ckks.mul_plain %x, %factor : !ckks.ciphertext, !ckks.plaintext
  %mean = ckks.sum_slots %scaled {count = 4096} : !ckks.ciphertext
  %part = ckks.mul %scaled, %x : !ckks.ciphertext
  %mean_of_squares = ckks.sum_slots %part {count = 4096} : !ckks.ciphertext
  %square_of_mean = ckks.mul %mean, %mean : !ckks.ciphertext
  %variance = ckks.sub %mean_of_squares, %square_of_mean : !ckks.ciphertext
  return %variance : !ckks.ciphertext
}

}
