// 0.5 x^2 + x + y, without a word about levels or scales.
module attributes {ckks.params = #ckks.params<
  ring_degree = 8192, q = [281474976546817, 274877202433, 274877562881, 274878136321], p = [281474976694273],
  digits = 4, scale = 2**38, secret = ternary>} {

func.func @quadratic(%x : !ckks.ciphertext {ckks.slots = 8 : i64}, %y : !ckks.ciphertext {ckks.slots = 8 : i64})
    -> !ckks.ciphertext {
  %half = arith.constant dense<0.5> : tensor<1xf64>
  %c = ckks.encode %half : tensor<1xf64> -> !ckks.plaintext
  %square = ckks.mul %x, %x : !ckks.ciphertext
  %scaled = ckks.mul_plain %square, %c : !ckks.ciphertext, !ckks.plaintext
  %part = ckks.add %scaled, %x : !ckks.ciphertext
  %result = ckks.add %part, %y : !ckks.ciphertext
  return %result : !ckks.ciphertext
}

}
