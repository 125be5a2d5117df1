// RUN: not fhelium-opt %s 2>&1 | filecheck %s

// Only vectors are encoded.
// CHECK: invalid_encode_shape.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'ckks.encode': the values must be a vector, found tensor<2x2xf64>
func.func @f(%c : tensor<2x2xf64>) {
  %p = ckks.encode %c : tensor<2x2xf64> -> !ckks.plaintext
  return
}
