// RUN: not fhelium-opt %s --split-input-file -p ckks-manage,ckks-check 2>&1 | filecheck %s
// RUN: not fhelium-opt %s --split-input-file -p ckks-manage,ckks-check 2>&1 | filecheck %s --check-prefix=OK

// S_1 = 2**76 / q2 is 2**38 up to a relative 8.3e-7: within 1e-6, not within 5e-7. The comparison is exact.
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [281474976546817, 274877562881, 274878136321], p = [281474976694273], digits = 3, scale = 2**38, secret = ternary>} {
// OK-LABEL: func.func @f(
// OK: %a = ckks.adopt_scale %x {tolerance = 1.000000e-06 : f64} : !ckks.ciphertext<level = 1, scale = 2**76 / q2> -> !ckks.ciphertext<level = 1, scale = 2**38>
func.func @f(%x : !ckks.ciphertext<level = 1, scale = 2**76 / q2>, %y : !ckks.ciphertext<level = 1, scale = 2**38>) -> !ckks.ciphertext<level = 1, scale = 2**38> {
  %a = ckks.adopt_scale %x {tolerance = 1.0e-06 : f64} : !ckks.ciphertext<level = 1, scale = 2**76 / q2> -> !ckks.ciphertext<level = 1, scale = 2**38>
  %b = ckks.add %a, %y : !ckks.ciphertext<level = 1, scale = 2**38>
  return %b : !ckks.ciphertext<level = 1, scale = 2**38>
}
}

// -----

module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [281474976546817, 274877562881, 274878136321], p = [281474976694273], digits = 3, scale = 2**38, secret = ternary>} {
func.func @f(%x : !ckks.ciphertext<level = 1, scale = 2**76 / q2>) -> !ckks.ciphertext<level = 1, scale = 2**38> {
// CHECK: ckks_check_adopt_scale.mlir:[[# @LINE + 1]]:8: error: ckks.adopt_scale: the scales 2**76 / q2 and 2**38 differ by a relative 8.34e-07, more than the tolerance 5e-07
  %a = ckks.adopt_scale %x {tolerance = 5.0e-07 : f64} : !ckks.ciphertext<level = 1, scale = 2**76 / q2> -> !ckks.ciphertext<level = 1, scale = 2**38>
  return %a : !ckks.ciphertext<level = 1, scale = 2**38>
}
}

// -----

// Tolerance 0 accepts equal scales only.
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [281474976546817, 274877562881, 274878136321], p = [281474976694273], digits = 3, scale = 2**38, secret = ternary>} {
func.func @f(%x : !ckks.ciphertext<level = 1, scale = 2**76 / q2>) -> !ckks.ciphertext<level = 1, scale = 2**76 / q2> {
  %a = ckks.adopt_scale %x {tolerance = 0.0 : f64} : !ckks.ciphertext<level = 1, scale = 2**76 / q2> -> !ckks.ciphertext<level = 1, scale = 2**76 / q2>
  return %a : !ckks.ciphertext<level = 1, scale = 2**76 / q2>
}
}

// -----

// Scales that nobody can expand.
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [281474976546817, 274877562881, 274878136321], p = [281474976694273], digits = 3, scale = 2**38, secret = ternary>} {
func.func @f(%x : !ckks.ciphertext<level = 1, scale = 2**400000 / q1**10000>) -> !ckks.ciphertext<level = 1, scale = 2**38> {
// CHECK: ckks_check_adopt_scale.mlir:[[# @LINE + 1]]:8: error: ckks.adopt_scale: the scales 2**400000 / q1**10000 and 2**38 differ by a relative 2^19962, more than the tolerance 0.5
  %a = ckks.adopt_scale %x {tolerance = 0.5 : f64} : !ckks.ciphertext<level = 1, scale = 2**400000 / q1**10000> -> !ckks.ciphertext<level = 1, scale = 2**38>
  return %a : !ckks.ciphertext<level = 1, scale = 2**38>
}
}
