// RUN: fhelium-opt %s -p select-parameters --split-input-file | filecheck %s
// RUN: fhelium-opt %s -p select-parameters --split-input-file --remarks all 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: fhelium-opt %s -p ckks-expand,select-parameters,ckks-manage,ckks-check --split-input-file | filecheck %s --check-prefix=MANAGED

// Three levels at 20 bits: q_1 to q_3 follow the scale 2^41, q_0 has room for the result, every prime is 1 modulo 2N.
// The chain is what the program needs, and the smaller ring degrees are refused by the security limit.
// CHECK: builtin.module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [{{[0-9]+}}, {{2199[0-9]+}}, {{2199[0-9]+}}, {{2199[0-9]+}}], p = [{{[0-9]+}}], digits = 4, scale = 2**41, secret = ternary>}
// REMARK: select_parameters.mlir:[[# @LINE + 4]]:1: remark: [select-parameters] applied: 'builtin.module': ring degree 8192, 4 + 1 primes, log2(P*Q) = {{[0-9.]+}}, scale 2**41, 4 digits
// REMARK: remark: [select-parameters] analysis: 'builtin.module': ring degree 1024 is too small: 3 levels
// REMARK: remark: [select-parameters] analysis: 'builtin.module': ring degree 4096 is too small: 3 levels at scale 2**{{[0-9]+}} need log2(P*Q) = {{[0-9]+}} bits, above 106, its 128-bit limit
// MANAGED: %x: !ckks.ciphertext<level = 3, scale = 2**41>
module {
func.func @f(%x : !ckks.ciphertext {ckks.slots = 8 : i64}) -> !ckks.ciphertext {
  %a = ckks.mul %x, %x : !ckks.ciphertext
  %b = ckks.mul %a, %a : !ckks.ciphertext
  %c = ckks.mul %b, %x : !ckks.ciphertext
  return %c : !ckks.ciphertext
}
}

// -----

// Parameters that are there stay.
// CHECK: builtin.module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [281474976546817, 274877562881], p = [281474976694273], digits = 2, scale = 2**38, secret = ternary>}
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [281474976546817, 274877562881], p = [281474976694273], digits = 2, scale = 2**38, secret = ternary>} {
func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %a = ckks.mul %x, %x : !ckks.ciphertext
  return %a : !ckks.ciphertext
}
}

// -----

// Large values: the lowest level has two primes, and the function ends there, at level 1.
// CHECK: builtin.module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [{{[0-9]+}}, {{[0-9]+}}, {{[0-9]+}}], p
// MANAGED: -> !ckks.ciphertext<level = 1,
module {
func.func @f(%x : !ckks.ciphertext {ckks.range = 1.0e+07 : f64}) -> !ckks.ciphertext {
  %v = arith.constant dense<0.0001> : tensor<1xf64>
  %p = ckks.encode %v : tensor<1xf64> -> !ckks.plaintext
  %a = ckks.add %x, %x : !ckks.ciphertext
  %b = ckks.mul_plain %a, %p : !ckks.ciphertext, !ckks.plaintext
  %c = ckks.add %b, %a : !ckks.ciphertext
  return %c : !ckks.ciphertext
}
}

// -----

// The vector of 8192 numbers needs as many slots.
// CHECK: ring_degree = 16384
// REMARK: remark: [select-parameters] analysis: 'builtin.module': ring degree 8192 has 4096 slots, the program needs 8192
module {
func.func @f(%x : !ckks.ciphertext {ckks.slots = 8192 : i64}) -> !ckks.ciphertext {
  %a = ckks.add %x, %x : !ckks.ciphertext
  return %a : !ckks.ciphertext
}
}

// -----

// A structured op is counted as what it expands to.
// CHECK: ring_degree = 8192, q = [{{[0-9]+}}, {{[0-9]+}}, {{[0-9]+}}, {{[0-9]+}}], p = [{{[0-9]+}}], digits = 4, scale = 2**38
// REMARK: 4 + 1 primes
// MANAGED-NOT: ckks.polynomial
module {
func.func @f(%x : !ckks.ciphertext {ckks.slots = 8 : i64}) -> !ckks.ciphertext {
  %a = ckks.polynomial %x {coefficients = dense<[0.5, 0.25, 0.125, 0.0625, 0.03125]> : tensor<5xf64>} : !ckks.ciphertext
  return %a : !ckks.ciphertext
}
}
