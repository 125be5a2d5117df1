// RUN: not fhelium-opt %s 2>&1 | filecheck %s

// Only vectors of f64 are encoded.
// CHECK: invalid_encode_element.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'ckks.encode': the values must be of type f64, found tensor<2xi64>
func.func @f(%c : tensor<2xi64>) {
  %p = ckks.encode %c : tensor<2xi64> -> !ckks.plaintext
  return
}
