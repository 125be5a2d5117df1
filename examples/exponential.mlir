// exp(x) of every slot of an encrypted vector, x in [-1, 1], by its Taylor polynomial of degree 5: three levels. The
// error is at most 0.0017.
//
//   fhelium-run examples/exponential.mlir

module attributes {ckks.params = #ckks.params<
  ring_degree = 8192, q = [281474976546817, 274877202433, 274877562881, 274878136321],
  p = [281474976694273], digits = 4, scale = 2**38, secret = ternary>} {

func.func @exponential(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %y = ckks.polynomial %x {coefficients = dense<[
    1.0, 1.0, 0.5, 0.16666666666666666, 0.041666666666666664, 0.008333333333333333]> : tensor<6xf64>} : !ckks.ciphertext
  return %y : !ckks.ciphertext
}

}
