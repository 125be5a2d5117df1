// RUN: not fhelium-opt %s --split-input-file -p ckks-expand 2>&1 | filecheck %s
// RUN: not fhelium-opt %s --split-input-file -p ckks-check 2>&1 | filecheck %s --check-prefix=CHECKED

module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1125899906842177, 1099511627297, 1099511627873], p = [1125899906842273], digits = 3, scale = 2**40, secret = ternary, insecure>} {
func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %m = arith.constant dense<1.0> : tensor<16x16xf64>
// CHECK: ckks_expand_errors.mlir:[[# @LINE + 1]]:8: error: ckks.linear_transform: 16 columns do not divide the 8 slots
  %y = ckks.linear_transform %x, %m : !ckks.ciphertext, tensor<16x16xf64>
  return %y : !ckks.ciphertext
}
}

// -----

module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1125899906842177, 1099511627297, 1099511627873], p = [1125899906842273], digits = 3, scale = 2**40, secret = ternary, insecure>} {
func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %m = "test.op"() : () -> tensor<2x2xf64>
// CHECK: ckks_expand_errors.mlir:[[# @LINE + 1]]:8: error: ckks.linear_transform: the matrix must be an `arith.constant dense<...>`
  %y = ckks.linear_transform %x, %m : !ckks.ciphertext, tensor<2x2xf64>
  return %y : !ckks.ciphertext
}
}

// -----

module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1125899906842177, 1099511627297, 1099511627873], p = [1125899906842273], digits = 3, scale = 2**40, secret = ternary, insecure>} {
func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %m = arith.constant dense<"0x000000000000F03F000000000000F03F000000000000F03F000000000000F07F"> : tensor<2x2xf64>
// CHECK: ckks_expand_errors.mlir:[[# @LINE + 1]]:8: error: ckks.linear_transform: entry [1][1] of the matrix is inf
  %y = ckks.linear_transform %x, %m : !ckks.ciphertext, tensor<2x2xf64>
  return %y : !ckks.ciphertext
}
}

// -----

module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1125899906842177, 1099511627297, 1099511627873], p = [1125899906842273], digits = 3, scale = 2**40, secret = ternary, insecure>} {
func.func @f(%x : !ckks.ciphertext<level = 0, scale = 2**40>) -> !ckks.ciphertext<level = 0, scale = 2**40> {
// CHECK: ckks_expand_errors.mlir:[[# @LINE + 2]]:8: error: ckks.sum_slots: count 9 is more than the 8 slots
// CHECKED: ckks_expand_errors.mlir:[[# @LINE + 1]]:8: error: ckks.sum_slots: run ckks-expand first
  %y = ckks.sum_slots %x {count = 9} : !ckks.ciphertext<level = 0, scale = 2**40>
  return %y : !ckks.ciphertext<level = 0, scale = 2**40>
}
}

// -----

module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1125899906842177, 1099511627297, 1099511627873], p = [1125899906842273], digits = 3, scale = 2**40, secret = ternary, insecure>} {
func.func @f(%x : !ckks.ciphertext<level = 2>) -> !ckks.ciphertext<level = 1> {
  %a = ckks.rescale %x : !ckks.ciphertext<level = 2>
// CHECK: ckks_expand_errors.mlir:[[# @LINE + 1]]:8: error: ckks.polynomial: levels and scales of this function must be left to the compiler, but @f has a ckks.rescale
  %y = ckks.polynomial %a {coefficients = dense<[0.5, 1.0, 1.0]> : tensor<3xf64>} : !ckks.ciphertext<level = 1> -> !ckks.ciphertext<level = 1>
  return %y : !ckks.ciphertext<level = 1>
}
}
