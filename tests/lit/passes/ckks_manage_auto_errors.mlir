// RUN: not fhelium-opt %s --split-input-file -p ckks-manage 2>&1 | filecheck %s

// The chain ends: the op that needs the next level, and how many levels the program needs in all.
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [281474976546817, 274877562881, 274878136321], p = [281474976694273], digits = 3, scale = 2**38, secret = ternary>} {
func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %a = ckks.mul %x, %x : !ckks.ciphertext
  %b = ckks.mul %a, %a : !ckks.ciphertext
// CHECK: ckks_manage_auto_errors.mlir:[[# @LINE + 1]]:8: error: ckks-manage: the program needs 4 levels, the chain has 2: it ends at ckks.mul
  %c = ckks.mul %b, %b : !ckks.ciphertext
  %d = ckks.mul %c, %c : !ckks.ciphertext
  return %d : !ckks.ciphertext
}
}

// -----

// The last rescale belongs to the op that made the product.
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [281474976546817, 274877562881, 274878136321], p = [281474976694273], digits = 3, scale = 2**38, secret = ternary>} {
func.func @f(%x : !ckks.ciphertext) -> (!ckks.ciphertext, !ckks.ciphertext) {
  %v = arith.constant dense<0.5> : tensor<1xf64>
  %p = ckks.encode %v : tensor<1xf64> -> !ckks.plaintext
  %a = ckks.mul %x, %x : !ckks.ciphertext
  %b = ckks.mul_plain %a, %p : !ckks.ciphertext, !ckks.plaintext
// CHECK: ckks_manage_auto_errors.mlir:[[# @LINE + 1]]:8: error: ckks-manage: the program needs 3 levels, the chain has 2: it ends at ckks.mul_plain
  %c = ckks.mul_plain %b, %p : !ckks.ciphertext, !ckks.plaintext
  %d = ckks.negate %x : !ckks.ciphertext
  return %d, %c : !ckks.ciphertext, !ckks.ciphertext
}
}

// -----

// Levels below the one that an argument states.
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [281474976546817, 274877562881, 274878136321], p = [281474976694273], digits = 3, scale = 2**38, secret = ternary>} {
func.func @f(%x : !ckks.ciphertext<level = 1, scale = 2**76 / q2>) -> !ckks.ciphertext {
  %a = "ckks.mul"(%x, %x) : (!ckks.ciphertext<level = 1, scale = 2**76 / q2>, !ckks.ciphertext<level = 1, scale = 2**76 / q2>) -> !ckks.ciphertext
// CHECK: ckks_manage_auto_errors.mlir:[[# @LINE + 1]]:8: error: ckks-manage: the program needs 3 levels, the chain has 2: it ends at ckks.mul
  %b = ckks.mul %a, %a : !ckks.ciphertext
  return %b : !ckks.ciphertext
}
}

// -----

// One plaintext argument in two encodings.
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [281474976546817, 274877562881, 274878136321], p = [281474976694273], digits = 3, scale = 2**38, secret = ternary>} {
func.func @f(%x : !ckks.ciphertext, %p : !ckks.plaintext) -> !ckks.ciphertext {
  %a = ckks.mul_plain %x, %p : !ckks.ciphertext, !ckks.plaintext
// CHECK: ckks_manage_auto_errors.mlir:[[# @LINE + 1]]:8: error: ckks-manage: a plaintext argument would have to be !ckks.plaintext<level = 1, scale = 2**152 / q2**2> here, but !ckks.plaintext<level = 1, scale = 2**76 / q2> for an earlier op; pass it once for each
  %b = ckks.add_plain %a, %p : !ckks.ciphertext, !ckks.plaintext
  return %b : !ckks.ciphertext
}
}

// -----

// A plaintext argument that is not what its use needs.
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [281474976546817, 274877562881, 274878136321], p = [281474976694273], digits = 3, scale = 2**38, secret = ternary>} {
func.func @f(%x : !ckks.ciphertext, %p : !ckks.plaintext<level = 1, scale = 2**38>) -> !ckks.ciphertext {
// CHECK: ckks_manage_auto_errors.mlir:[[# @LINE + 1]]:8: error: ckks-manage: ckks.mul_plain needs the plaintext argument as !ckks.plaintext<level = 1, scale = 2**76 / q2>, but it is stated as !ckks.plaintext<level = 1, scale = 2**38>
  %a = "ckks.mul_plain"(%x, %p) : (!ckks.ciphertext, !ckks.plaintext<level = 1, scale = 2**38>) -> !ckks.ciphertext
  return %a : !ckks.ciphertext
}
}

// -----

// An argument above the chain.
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [281474976546817, 274877562881, 274878136321], p = [281474976694273], digits = 3, scale = 2**38, secret = ternary>} {
// CHECK: ckks_manage_auto_errors.mlir:[[# @LINE + 1]]:1: error: ckks-manage: an argument has level 3, the chain ends at 2
func.func @f(%x : !ckks.ciphertext<level = 3>) -> !ckks.ciphertext {
  %a = "ckks.negate"(%x) : (!ckks.ciphertext<level = 3>) -> !ckks.ciphertext
  return %a : !ckks.ciphertext
}
}

// -----

// An argument at another scale than its level's.
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [281474976546817, 274877562881, 274878136321], p = [281474976694273], digits = 3, scale = 2**38, secret = ternary>} {
// CHECK: ckks_manage_auto_errors.mlir:[[# @LINE + 1]]:1: error: ckks-manage: an argument at level 1 has scale 2**38; without management ops it must have the level's scale 2**76 / q2
func.func @f(%x : !ckks.ciphertext<level = 1, scale = 2**38>) -> !ckks.ciphertext {
  %a = "ckks.negate"(%x) : (!ckks.ciphertext<level = 1, scale = 2**38>) -> !ckks.ciphertext
  return %a : !ckks.ciphertext
}
}

// -----

// What is expanded or unrolled by other passes has no rule.
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [281474976546817, 274877562881, 274878136321], p = [281474976694273], digits = 3, scale = 2**38, secret = ternary>} {
func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {
// CHECK: ckks_manage_auto_errors.mlir:[[# @LINE + 1]]:8: error: ckks-manage: ckks.sum_slots has no rule for automatic levels; run ckks-expand first
  %a = ckks.sum_slots %x {count = 4} : !ckks.ciphertext
  return %a : !ckks.ciphertext
}
}
