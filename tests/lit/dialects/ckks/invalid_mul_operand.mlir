// RUN: not fhelium-opt %s 2>&1 | filecheck %s

// A plaintext is no operand of mul.
// CHECK: invalid_mul_operand.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.mul: the right operand must be a ciphertext, found !ckks.plaintext<level = ?, scale = ?>
func.func @f(%x : !ckks.ciphertext, %p : !ckks.plaintext) {
  %r = ckks.mul %x, %p : !ckks.ciphertext, !ckks.plaintext
  return
}
