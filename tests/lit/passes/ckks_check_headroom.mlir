// RUN: not fhelium-opt %s --split-input-file -p ckks-check 2>&1 | filecheck %s

// 2 * 2**40 * 512 = 2**50 is above q0, which is just below 2**50.
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1125899906629633, 1099511480321], p = [1125899906826241], digits = 2, scale = 2**40, secret = ternary>} {
func.func @f(%x : !ckks.ciphertext<level = 0, scale = 2**40>, %y : !ckks.ciphertext<level = 0, scale = 2**40> {ckks.range = 512.0 : f64}) -> (!ckks.ciphertext<level = 0, scale = 2**40>, !ckks.ciphertext<level = 0, scale = 2**40>) {
// CHECK: ckks_check_headroom.mlir:[[# @LINE + 1]]:3: error: output 1 (%y) of @f has no headroom: 2 * scale * max|value| = 2^50.00 (max|value| <= 512) is not below 2^50.00, the only prime of its level 0; {{.*}}ckks.range
  return %x, %y : !ckks.ciphertext<level = 0, scale = 2**40>, !ckks.ciphertext<level = 0, scale = 2**40>
}
}

// -----

// With the second prime there is enough.
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1125899906629633, 1099511480321], p = [1125899906826241], digits = 2, scale = 2**40, secret = ternary>} {
// CHECK-NOT: error: output 0 (%y)
func.func @g(%y : !ckks.ciphertext<level = 1, scale = 2**40> {ckks.range = 512.0 : f64}) -> !ckks.ciphertext<level = 1, scale = 2**40> {
  return %y : !ckks.ciphertext<level = 1, scale = 2**40>
}
}

// -----

// Bounds grow on the way: (100 + 2) * 8 is too much.
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1125899906629633, 1099511480321], p = [1125899906826241], digits = 2, scale = 2**40, secret = ternary>} {
func.func @f(%x : !ckks.ciphertext<level = 0, scale = 2**40> {ckks.range = 100.0 : f64}) -> !ckks.ciphertext<level = 0, scale = 2**40> {
  %v = arith.constant dense<[1.0, -2.0]> : tensor<2xf64>
  %p = ckks.encode %v : tensor<2xf64> -> !ckks.plaintext<level = 0, scale = 2**40>
  %a = ckks.add_plain %x, %p : !ckks.ciphertext<level = 0, scale = 2**40>, !ckks.plaintext<level = 0, scale = 2**40>
  %b = ckks.add %a, %a : !ckks.ciphertext<level = 0, scale = 2**40>
  %c = ckks.add %b, %b : !ckks.ciphertext<level = 0, scale = 2**40>
  %d = ckks.sub %c, %c : !ckks.ciphertext<level = 0, scale = 2**40>
// CHECK: ckks_check_headroom.mlir:[[# @LINE + 1]]:3: error: output 0 (%d) of @f has no headroom: 2 * scale * max|value| = 2^50.67 (max|value| <= 816) is not below 2^50.00, {{.*}}
  return %d : !ckks.ciphertext<level = 0, scale = 2**40>
}
}

// -----

// Scales that nobody can expand are compared all the same.
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1125899906629633, 1099511480321], p = [1125899906826241], digits = 2, scale = 2**40, secret = ternary>} {
func.func @f(%x : !ckks.ciphertext<level = 1, scale = 2**40000 * q1**20000>) -> !ckks.ciphertext<level = 1, scale = 2**40000 * q1**20000> {
// CHECK: ckks_check_headroom.mlir:[[# @LINE + 1]]:3: error: output 0 (%x) of @f has no headroom: 2 * scale * max|value| = 2^8400{{[0-9.]+}} (max|value| <= 1) is not below 2^90.00, the product of the 2 primes of its level 1; {{.*}}
  return %x : !ckks.ciphertext<level = 1, scale = 2**40000 * q1**20000>
}
}
