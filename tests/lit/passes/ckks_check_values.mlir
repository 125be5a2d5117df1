// RUN: not fhelium-opt %s --split-input-file -p ckks-manage,ckks-check 2>&1 | filecheck %s
// RUN: not fhelium-opt %s --split-input-file -p ckks-manage,ckks-check 2>&1 | filecheck %s --check-prefix=OK

// A value that wraps on the way, though every output is small: x = 2^13 at scale 2^38 is above q0 = 2^48.
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [281474976546817, 274877562881, 274878136321], p = [281474976694273], digits = 3, scale = 2**38, secret = ternary>} {
func.func @f(%x : !ckks.ciphertext<level = 1, scale = 2**38> {ckks.range = 8192.0 : f64}) -> !ckks.ciphertext<level = 0, scale = 2**40> {
  %v = arith.constant dense<0.0001> : tensor<1xf64>
  %p = ckks.encode %v : tensor<1xf64> -> !ckks.plaintext<level = 0, scale = 2**2>
// CHECK: ckks_check_values.mlir:[[# @LINE + 1]]:8: error: value (%a) of @f has no headroom: 2 * scale * max|value| = 2^52.00 (max|value| <= 8192) is not below 2^48.00, the only prime of its level 0; use a higher level, a lower scale, or state smaller inputs with ckks.range
  %a = ckks.mod_switch %x : !ckks.ciphertext<level = 1, scale = 2**38>
  %b = ckks.mul_plain %a, %p : !ckks.ciphertext<level = 0, scale = 2**38>, !ckks.plaintext<level = 0, scale = 2**2>
  return %b : !ckks.ciphertext<level = 0, scale = 2**40>
}
}

// -----

// An argument.
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [281474976546817, 274877562881, 274878136321], p = [281474976694273], digits = 3, scale = 2**38, secret = ternary>} {
// CHECK: ckks_check_values.mlir:[[# @LINE + 1]]:1: error: argument (%x) of @f has no headroom
func.func @f(%x : !ckks.ciphertext<level = 0, scale = 2**38> {ckks.range = 8192.0 : f64}) -> !ckks.ciphertext<level = 0, scale = 2**40> {
  %v = arith.constant dense<0.0001> : tensor<1xf64>
  %p = ckks.encode %v : tensor<1xf64> -> !ckks.plaintext<level = 0, scale = 2**2>
  %b = ckks.mul_plain %x, %p : !ckks.ciphertext<level = 0, scale = 2**38>, !ckks.plaintext<level = 0, scale = 2**2>
  return %b : !ckks.ciphertext<level = 0, scale = 2**40>
}
}

// -----

// Values that no output depends on may wrap. Automatic levels: no start has room for the output, which is named.
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [281474976546817, 274877562881, 274878136321], p = [281474976694273], digits = 3, scale = 2**38, secret = ternary>} {
func.func @f(%x : !ckks.ciphertext {ckks.range = 1.0e+12 : f64}) -> !ckks.ciphertext {
  %dead = ckks.mul %x, %x : !ckks.ciphertext
  %a = ckks.add %x, %x : !ckks.ciphertext
  %b = ckks.mul %a, %a : !ckks.ciphertext
// CHECK: ckks_check_values.mlir:[[# @LINE + 1]]:3: error: output 0 (%b) of @f has no headroom: 2 * scale * max|value| = 2^120.73 (max|value| <= 4e+24) is not below 2^86.00, the product of the 2 primes of its level 1
  return %b : !ckks.ciphertext
}
}

// -----

// OK: func.func @promised(
// A promised range is believed: the square of a number in [-1, 1], less 1/2, twice, stays there.
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [281474976546817, 274877562881, 274878136321], p = [281474976694273], digits = 3, scale = 2**38, secret = ternary>} {
func.func @promised(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %v = arith.constant dense<-1.0> : tensor<1xf64>
  %p = ckks.encode %v : tensor<1xf64> -> !ckks.plaintext
  %a = ckks.mul %x, %x : !ckks.ciphertext
  %b = ckks.add %a, %a : !ckks.ciphertext
  %t = ckks.add_plain %b, %p {ckks.range = 1.0 : f64} : !ckks.ciphertext, !ckks.plaintext
  %c = ckks.mul %t, %t : !ckks.ciphertext
  return %c : !ckks.ciphertext
}
}

// -----

// A promise that is no bound.
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [281474976546817, 274877562881, 274878136321], p = [281474976694273], digits = 3, scale = 2**38, secret = ternary>} {
func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {
// CHECK: ckks_check_values.mlir:[[# @LINE + 1]]:8: error: ckks.negate: ckks.range must be a positive finite float such as `2.0 : f64`, found 2 : i64
  %a = ckks.negate %x {ckks.range = 2 : i64} : !ckks.ciphertext
  return %a : !ckks.ciphertext
}
}
