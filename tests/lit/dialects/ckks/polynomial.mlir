// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// The basis is monomial unless it is written; a domain belongs to Chebyshev polynomials.
// CHECK-LABEL: func.func @f
// CHECK: %a = ckks.polynomial %x {coefficients = dense<[5.000000e-01, 0.000000e+00, 2.500000e-01]> : tensor<3xf64>} : !ckks.ciphertext
// CHECK-NEXT: %b = ckks.polynomial %a {basis = "monomial", coefficients = dense<5.000000e-01> : tensor<4xf64>} : !ckks.ciphertext
// CHECK-NEXT: %c = ckks.polynomial %b {basis = "chebyshev", coefficients = dense<[0.000000e+00, 1.000000e+00]> : tensor<2xf64>, domain = array<f64: -8.000000e+00, 4.000000e+00>} : !ckks.ciphertext
// CHECK-NEXT: func.return %c : !ckks.ciphertext
// GENERIC: "ckks.polynomial"(%b) <{basis = "chebyshev", coefficients = dense<[0.000000e+00, 1.000000e+00]> : tensor<2xf64>, domain = array<f64: -8.000000e+00, 4.000000e+00>}> : (!ckks.ciphertext) -> !ckks.ciphertext
func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %a = ckks.polynomial %x {coefficients = dense<[0.5, 0.0, 0.25]> : tensor<3xf64>} : !ckks.ciphertext
  %b = ckks.polynomial %a {basis = "monomial", coefficients = dense<0.5> : tensor<4xf64>} : !ckks.ciphertext
  %c = ckks.polynomial %b {basis = "chebyshev", coefficients = dense<[0.0, 1.0]> : tensor<2xf64>, domain = array<f64: -8.0, 4.0>} : !ckks.ciphertext
  return %c : !ckks.ciphertext
}
