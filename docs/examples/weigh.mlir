// Weighs an encrypted vector of four numbers by constants.
module attributes {ckks.params = #ckks.params<
  ring_degree = 8192, q = [1125899906629633, 1099511480321], p = [1125899906826241],
  digits = 2, scale = 2**40, secret = ternary>} {

func.func @weigh(%x : !ckks.ciphertext {ckks.slots = 4 : i64}) -> !ckks.ciphertext {
  %w = arith.constant dense<[0.5, 0.25, 0.125, 0.125]> : tensor<4xf64>
  %weights = ckks.encode %w : tensor<4xf64> -> !ckks.plaintext
  %y = ckks.mul_plain %x, %weights : !ckks.ciphertext, !ckks.plaintext
  return %y : !ckks.ciphertext
}

}
