// RUN: fhelium-opt %s -p ckks-expand | filecheck %s
// RUN: fhelium-opt %s -p ckks-expand --remarks all 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK
// RUN: fhelium-opt %s -p ckks-expand,ckks-manage --remarks all 2>&1 >/dev/null | filecheck %s --check-prefix=LEVELS

module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1125899906842177, 1099511628161, 1099511627297, 1099511627873], p = [1125899906842273], digits = 4, scale = 2**40, secret = ternary, insecure>} {

// x^2 (c2 + c3 x) + c0 + c1 x: with x^3 it would be deeper by one.
// CHECK-LABEL: func.func @cubic
// CHECK-NEXT: [[SQUARE:%.*]] = ckks.mul %x, %x : !ckks.ciphertext
// CHECK: [[C3X:%.*]] = ckks.mul_plain %x,
// CHECK: [[HIGH:%.*]] = ckks.add_plain [[C3X]],
// CHECK: [[PRODUCT:%.*]] = ckks.mul [[SQUARE]], [[HIGH]] : !ckks.ciphertext
// CHECK: [[C1X:%.*]] = ckks.mul_plain %x,
// CHECK: [[SUM:%.*]] = ckks.add [[PRODUCT]], [[C1X]] : !ckks.ciphertext
// CHECK: %y = ckks.add_plain [[SUM]],
// CHECK-NEXT: func.return %y
// REMARK: ckks_expand_polynomial.mlir:[[# @LINE + 3]]:8: remark: [ckks-expand] applied: 'ckks.polynomial': degree 3 in 2 levels: 2 products, 2 products with constants
// LEVELS: 'func.func': managed with 2 of 3 levels
func.func @cubic(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %y = ckks.polynomial %x {coefficients = dense<[0.1, 0.2, 0.3, 0.4]> : tensor<4xf64>} : !ckks.ciphertext
  return %y : !ckks.ciphertext
}

// Zero coefficients give no op, and products with 1 and -1 are none.
// CHECK-LABEL: func.func @sparse
// CHECK-NEXT: [[SQUARE:%.*]] = ckks.mul %x, %x : !ckks.ciphertext
// CHECK-NEXT: %y = ckks.sub [[SQUARE]], %x : !ckks.ciphertext
// CHECK-NEXT: func.return %y
// LEVELS: 'func.func': managed with 1 of 3 levels
func.func @sparse(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %y = ckks.polynomial %x {coefficients = dense<[0.0, -1.0, 1.0, 0.0]> : tensor<4xf64>} : !ckks.ciphertext
  return %y : !ckks.ciphertext
}

// T_2 = 2 T_1 T_1 - 1 stays in [-1, 1], which the range analysis is told.
// CHECK-LABEL: func.func @chebyshev
// CHECK-NEXT: [[SQUARE:%.*]] = ckks.mul %x, %x : !ckks.ciphertext
// CHECK-NEXT: [[DOUBLE:%.*]] = ckks.add [[SQUARE]], [[SQUARE]] : !ckks.ciphertext
// CHECK-NEXT: arith.constant dense<-1.000000e+00> : tensor<1xf64>
// CHECK: [[T2:%.*]] = ckks.add_plain [[DOUBLE]], {{.*}} {ckks.range = 1.00000{{.*}} : f64}
// CHECK: %y = ckks.mul_plain [[T2]], {{.*}} {ckks.range = 0.5{{.*}} : f64}
// CHECK-NEXT: func.return %y
func.func @chebyshev(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %y = ckks.polynomial %x {basis = "chebyshev", coefficients = dense<[0.0, 0.0, 0.5]> : tensor<3xf64>} : !ckks.ciphertext
  return %y : !ckks.ciphertext
}

// T_3 = 2 T_2 T_1 - T_1. The interval [0, 4] becomes [-1, 1], for one level more.
// CHECK-LABEL: func.func @interval
// CHECK: arith.constant dense<5.000000e-01> : tensor<1xf64>
// CHECK: [[SCALED:%.*]] = ckks.mul_plain %x,
// CHECK: arith.constant dense<-1.000000e+00> : tensor<1xf64>
// CHECK: [[T1:%.*]] = ckks.add_plain [[SCALED]], {{.*}} {ckks.range = 1.00000{{.*}} : f64}
// CHECK: [[T2:%.*]] = ckks.add_plain
// CHECK-NEXT: [[PRODUCT:%.*]] = ckks.mul [[T2]], [[T1]] : !ckks.ciphertext
// CHECK-NEXT: [[DOUBLE:%.*]] = ckks.add [[PRODUCT]], [[PRODUCT]] : !ckks.ciphertext
// CHECK-NEXT: %y = ckks.sub [[DOUBLE]], [[T1]]
// REMARK: ckks_expand_polynomial.mlir:[[# @LINE + 3]]:8: warning: [ckks-expand] 'ckks.polynomial': the operand may reach 5 or -5, its domain is [0, 4]
// REMARK: [[# @LINE + 2]]:8: remark: [ckks-expand] applied: 'ckks.polynomial': degree 3 in 3 levels
func.func @interval(%x : !ckks.ciphertext {ckks.range = 5.0 : f64}) -> !ckks.ciphertext {
  %y = ckks.polynomial %x {basis = "chebyshev", domain = array<f64: 0.0, 4.0>, coefficients = dense<[0.0, 0.0, 0.0, 1.0]> : tensor<4xf64>} : !ckks.ciphertext
  return %y : !ckks.ciphertext
}
}
