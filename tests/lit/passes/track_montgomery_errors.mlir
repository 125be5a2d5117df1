// RUN: not fhelium-opt %s --split-input-file -p track-montgomery 2> %t.err
// RUN: filecheck %s < %t.err

// CHECK: track_montgomery_errors.mlir:[[# @LINE + 1]]:1: error: track-montgomery: the module has no attribute `rns.arithmetic`; run select-arithmetic first
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>} {
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)> {
  %r = rns.negate %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}
}

// -----

module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, coefficient> {
  // CHECK: track_montgomery_errors.mlir:[[# @LINE + 1]]:8: error: track-montgomery: ntt.inverse has no contract; run select-ntt-schedules first
  %r = ntt.inverse %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, coefficient>
}
}

// -----

module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)> {
  // CHECK: track_montgomery_errors.mlir:[[# @LINE + 1]]:8: error: track-montgomery: there is no rule for test.op on !rns.poly
  %r = "test.op"(%x) : (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}
}

// -----

module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = ?)> {
  // CHECK: track_montgomery_errors.mlir:[[# @LINE + 1]]:8: error: track-montgomery: the result of rns.mul must have exponent 1, because it is a product of two bundles, but also 0, because its type says so
  %r = rns.mul %x, %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)> -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = ?)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = ?)>
}
}

// -----

module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 1)> {
  // CHECK: track_montgomery_errors.mlir:[[# @LINE + 1]]:8: error: track-montgomery: %r is said to be below 1q, but only 2q follows
  %r = rns.mul %x, %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)> -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 1)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 1)>
}
}

// -----

module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont32(e = 1, below = 2)> {
  // CHECK: track_montgomery_errors.mlir:[[# @LINE + 1]]:8: error: track-montgomery: %r is stored for mont32, the module's arithmetic is mont64
  %r = rns.mul %x, %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)> -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont32(e = 1, below = 2)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont32(e = 1, below = 2)>
}
}

// -----

module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)> {
  // CHECK: track_montgomery_errors.mlir:[[# @LINE + 1]]:8: error: track-montgomery: @k is not declared in the module
  %r = resource.ref @k : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}
}

// -----

module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)> {
  // CHECK: track_montgomery_errors.mlir:[[# @LINE + 1]]:8: error: track-montgomery: exponents are 0 and 1, a change by 2 is not possible
  %r = rns.mul_constant %x {constant = #rns.constant<inverse p 0:1>, exponent = 3 : i64} : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}
}

// -----

module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 2, below = ?)> {
  // CHECK: track_montgomery_errors.mlir:[[# @LINE + 1]]:8: error: track-montgomery: %r has exponent 2; bundles are stored at 0 or 1
  %r = rns.set_representative %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)> -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 2, below = ?)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 2, below = ?)>
}
}

// -----

// CHECK: track_montgomery_errors.mlir:[[# @LINE + 3]]:8: error: the basis q 0:3 has the prime q2, the parameters have 2 primes q
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {
func.func @f(%x : !rns.poly<8192, q 0:3, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:3, evaluation(bit_reversed)> {
  %r = rns.negate %x : !rns.poly<8192, q 0:3, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:3, evaluation(bit_reversed)>
}
}

// CHECK-NOT: error:
