// RUN: not fhelium-opt %s --split-input-file -p ckks-manage 2>&1 | filecheck %s

// The levels that follow from the arguments differ.
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [281474976546817, 274877562881, 274878136321], p = [281474976694273], digits = 3, scale = 2**38, secret = ternary>} {
func.func @f(%x : !ckks.ciphertext<level = ?>) -> !ckks.ciphertext<level = ?> {
  %a = ckks.mod_switch %x : !ckks.ciphertext<level = ?>
// CHECK: ckks_manage_errors.mlir:[[# @LINE + 1]]:8: error: ckks.add: the operands must have equal levels: the left one has level 2, the right one 1
  %b = ckks.add %x, %a : !ckks.ciphertext<level = ?>
  return %b : !ckks.ciphertext<level = ?>
}
}

// -----

// The scales that follow from the arguments differ.
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [281474976546817, 274877562881, 274878136321], p = [281474976694273], digits = 3, scale = 2**38, secret = ternary>} {
func.func @f(%x : !ckks.ciphertext<level = ?>) -> !ckks.ciphertext<level = ?> {
  %a = ckks.mul %x, %x : !ckks.ciphertext<level = ?>
  %b = ckks.relinearize %a : !ckks.ciphertext<size = 3>
// CHECK: ckks_manage_errors.mlir:[[# @LINE + 1]]:8: error: ckks.sub: the operands must have equal scales: the left one has scale 2**76, the right one 2**38
  %c = ckks.sub %b, %x : !ckks.ciphertext<level = ?>
  return %c : !ckks.ciphertext<level = ?>
}
}

// -----

// More rescales than levels.
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [281474976546817, 274877562881, 274878136321], p = [281474976694273], digits = 3, scale = 2**38, secret = ternary>} {
func.func @f(%x : !ckks.ciphertext<level = ?>) -> !ckks.ciphertext<level = ?> {
  %a = ckks.rescale %x : !ckks.ciphertext<level = ?>
  %b = ckks.rescale %a : !ckks.ciphertext<level = ?>
// CHECK: ckks_manage_errors.mlir:[[# @LINE + 1]]:8: error: ckks.rescale: a ciphertext at level 0 has no prime to give up
  %c = ckks.rescale %b : !ckks.ciphertext<level = ?>
  return %c : !ckks.ciphertext<level = ?>
}
}

// -----

// One constant cannot be at two levels.
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [281474976546817, 274877562881, 274878136321], p = [281474976694273], digits = 3, scale = 2**38, secret = ternary>} {
func.func @f(%x : !ckks.ciphertext<level = ?>) -> (!ckks.ciphertext<level = ?>, !ckks.ciphertext<level = ?>) {
  %v = arith.constant dense<0.5> : tensor<1xf64>
  %p = ckks.encode %v : tensor<1xf64> -> !ckks.plaintext
  %a = ckks.mul_plain %x, %p : !ckks.ciphertext<level = ?>, !ckks.plaintext
  %b = ckks.mod_switch %x : !ckks.ciphertext<level = ?>
// CHECK: ckks_manage_errors.mlir:[[# @LINE + 1]]:8: error: ckks.mul_plain: the encoded constant must be !ckks.plaintext<level = 1, scale = 2**38> here, but !ckks.plaintext<level = 2, scale = 2**38> for ckks.mul_plain at {{.*}}:[[# @LINE - 2]]:8; encode it once for each
  %c = ckks.mul_plain %b, %p : !ckks.ciphertext<level = ?>, !ckks.plaintext
  return %a, %c : !ckks.ciphertext<level = ?>, !ckks.ciphertext<level = ?>
}
}

// -----

// A written scale that does not fit the sum.
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [281474976546817, 274877562881, 274878136321], p = [281474976694273], digits = 3, scale = 2**38, secret = ternary>} {
func.func @f(%x : !ckks.ciphertext<level = ?>) -> !ckks.ciphertext<scale = 2**30> {
  %v = arith.constant dense<0.5> : tensor<1xf64>
  %p = ckks.encode %v : tensor<1xf64> -> !ckks.plaintext<scale = 2**30>
// CHECK: ckks_manage_errors.mlir:[[# @LINE + 1]]:8: error: ckks.add_plain: the operands must have equal scales: the left one has scale 2**38, the right one 2**30
  %a = ckks.add_plain %x, %p : !ckks.ciphertext<level = ?>, !ckks.plaintext<scale = 2**30>
  return %a : !ckks.ciphertext<scale = 2**30>
}
}

// -----

// A written result that does not follow.
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [281474976546817, 274877562881, 274878136321], p = [281474976694273], digits = 3, scale = 2**38, secret = ternary>} {
func.func @f(%x : !ckks.ciphertext<level = ?>) -> !ckks.ciphertext<level = 2> {
// CHECK: ckks_manage_errors.mlir:[[# @LINE + 1]]:8: error: ckks.mod_switch: the result's level does not follow from the operands: expected !ckks.ciphertext<level = 1, scale = 2**38>, found !ckks.ciphertext<level = 2, scale = ?>
  %a = "ckks.mod_switch"(%x) : (!ckks.ciphertext<level = ?>) -> !ckks.ciphertext<level = 2>
  return %a : !ckks.ciphertext<level = 2>
}
}

// -----

// There is no top level without parameters.
// CHECK: ckks_manage_errors.mlir:[[# @LINE + 1]]:1: error: the module has no attribute `ckks.params = #ckks.params<...>`
module {
}
