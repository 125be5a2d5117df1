// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// The result type does not follow from the vector: it is written, as far as it is known.
// CHECK-LABEL: func.func @f
// CHECK: %known = ckks.encode %c : tensor<2xf64> -> !ckks.plaintext<level = 1, scale = 2**10 * 3 / q2**2>
// CHECK-NEXT: %open = ckks.encode %c : tensor<2xf64> -> !ckks.plaintext<level = ?, scale = ?>
// CHECK-NEXT: %other = ckks.encode %c : tensor<2xf64> -> !ckks.plaintext<level = 0, scale = ?, domain = coefficient>
// GENERIC: %known = "ckks.encode"(%c) : (tensor<2xf64>) -> !ckks.plaintext<level = 1, scale = 2**10 * 3 / q2**2>
func.func @f() {
  %c = arith.constant dense<[1.0, -2.5]> : tensor<2xf64>
  %known = ckks.encode %c : tensor<2xf64> -> !ckks.plaintext<level = 1, scale = 2**10 * 3 / q2**2>
  %open = ckks.encode %c : tensor<2xf64> -> !ckks.plaintext
  %other = ckks.encode %c : tensor<2xf64> -> !ckks.plaintext<domain = coefficient, level = 0>
  return
}
