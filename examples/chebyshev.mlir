// 1 / (1.5 + x) of every slot of an encrypted vector, x in [-1, 1], by a polynomial of degree 15 in the Chebyshev
// basis: four levels. The polynomial differs from the function by less than 1e-6.
//
//   fhelium-run examples/chebyshev.mlir

module attributes {ckks.params = #ckks.params<
  ring_degree = 16384, q = [1125899903991809, 1099514314753, 1099512938497, 1099510054913, 1099511922689],
  p = [1125899904679937], digits = 5, scale = 2**40, secret = ternary>} {

func.func @chebyshev(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %y = ckks.polynomial %x {basis = "chebyshev", coefficients = dense<[
    0.894427191000, -0.683281573000, 0.260990336999, -0.099689437997,
    0.038077976993, -0.014544492980, 0.005555501949, -0.002122012866,
    0.000810536648, -0.000309597078, 0.000118254587, -0.000045166683,
    0.000017245461, -0.000006569699, 0.000002463637, -0.000000821212]> : tensor<16xf64>} : !ckks.ciphertext
  return %y : !ckks.ciphertext
}

}
