// RUN: not fhelium-opt %s 2>&1 | filecheck %s

// The right operand of add_plain is a plaintext.
// CHECK: invalid_add_plain_operand.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.add_plain: the right operand must be a plaintext, found !ckks.ciphertext<level = ?, scale = ?>
func.func @f(%x : !ckks.ciphertext<level = ?>) {
  %r = ckks.add_plain %x, %x : !ckks.ciphertext<level = ?>
  return
}
