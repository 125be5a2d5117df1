// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: invalid_polynomial.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.polynomial: needs a property `coefficients = dense<[...]> : tensor<nxf64>`
func.func @f(%x : !ckks.ciphertext) {
  %r = ckks.polynomial %x : !ckks.ciphertext
  return
}

// -----

// CHECK: invalid_polynomial.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.polynomial: needs a property `coefficients
func.func @f(%x : !ckks.ciphertext) {
  %r = ckks.polynomial %x {coefficients = dense<[[1.0, 2.0]]> : tensor<1x2xf64>} : !ckks.ciphertext
  return
}

// -----

// CHECK: invalid_polynomial.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.polynomial: the polynomial is constant: every coefficient but the first is zero
func.func @f(%x : !ckks.ciphertext) {
  %r = ckks.polynomial %x {coefficients = dense<[1.0, 0.0]> : tensor<2xf64>} : !ckks.ciphertext
  return
}

// -----

// CHECK: invalid_polynomial.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.polynomial: coefficient 1 is inf
func.func @f(%x : !ckks.ciphertext) {
  %r = ckks.polynomial %x {coefficients = dense<"0x000000000000F03F000000000000F07F"> : tensor<2xf64>} : !ckks.ciphertext
  return
}

// -----

// CHECK: invalid_polynomial.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.polynomial: the basis is "monomial" or "chebyshev"
func.func @f(%x : !ckks.ciphertext) {
  %r = ckks.polynomial %x {coefficients = dense<1.0> : tensor<2xf64>, basis = "legendre"} : !ckks.ciphertext
  return
}

// -----

// CHECK: invalid_polynomial.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.polynomial: a domain belongs to the basis chebyshev
func.func @f(%x : !ckks.ciphertext) {
  %r = ckks.polynomial %x {coefficients = dense<1.0> : tensor<2xf64>, domain = array<f64: 0.0, 1.0>} : !ckks.ciphertext
  return
}

// -----

// CHECK: invalid_polynomial.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.polynomial: the domain must be `array<f64: a, b>` with a < b
func.func @f(%x : !ckks.ciphertext) {
  %r = ckks.polynomial %x {coefficients = dense<1.0> : tensor<2xf64>, basis = "chebyshev", domain = array<f64: 1.0, 1.0>} : !ckks.ciphertext
  return
}

// -----

// CHECK: invalid_polynomial.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.polynomial: the operand must have size 2, found size 3; relinearize it first
func.func @f(%x : !ckks.ciphertext<size = 3>) {
  %r = ckks.polynomial %x {coefficients = dense<1.0> : tensor<2xf64>} : !ckks.ciphertext<size = 3>
  return
}
