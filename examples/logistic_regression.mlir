// Logistic regression: the probability 1 / (1 + exp(-(w x + b))) for an encrypted vector x of 16 features in [-1, 1].
// w x + b is in [-4, 4]; there the sigmoid is a polynomial of degree 7, but for 0.002. Five levels.
//
//   fhelium-run examples/logistic_regression.mlir

module attributes {ckks.params = #ckks.params<
  ring_degree = 16384, q = [1125899903991809,
    1099508121601, 1099514314753, 1099512938497, 1099510054913, 1099511922689],
  p = [1125899904679937], digits = 6, scale = 2**40, secret = ternary>} {

func.func @logistic_regression(%x : !ckks.ciphertext {ckks.slots = 16 : i64}) -> !ckks.ciphertext {
  %w = arith.constant dense<[0.3029, -0.0568, -0.2273, 0.3596, -0.252, -0.0239, 0.2838, -0.3543, 0.1883, 0.1033, -0.326, 0.3311, -0.1152, -0.1776, 0.3518, -0.2912]> : tensor<16xf64>
  %weights = ckks.encode %w : tensor<16xf64> -> !ckks.plaintext
  %weighted = ckks.mul_plain %x, %weights : !ckks.ciphertext, !ckks.plaintext
  %sum = ckks.sum_slots %weighted {count = 16} : !ckks.ciphertext
  %b = arith.constant dense<0.25> : tensor<1xf64>
  %bias = ckks.encode %b : tensor<1xf64> -> !ckks.plaintext
  // What is known of the weights: the compiler bounds the sum by 16 times the largest one.
  %z = ckks.add_plain %sum, %bias {ckks.range = 4.0 : f64} : !ckks.ciphertext, !ckks.plaintext
  %y = ckks.polynomial %z {basis = "chebyshev", domain = array<f64: -4.0, 4.0>, coefficients = dense<
    [0.5, 0.55898295, 0.0, -0.09443692, 0.0, 0.0217841, 0.0, -0.00624667]> : tensor<8xf64>} : !ckks.ciphertext
  return %y : !ckks.ciphertext
}

}
