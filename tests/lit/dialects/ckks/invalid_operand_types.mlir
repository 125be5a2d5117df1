// RUN: not fhelium-opt %s 2>&1 | filecheck %s

// As many types as operands, or one.
// CHECK: invalid_operand_types.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 2 operands need as many types, or one
func.func @f(%x : !ckks.ciphertext) {
  %r = ckks.add %x, %x : !ckks.ciphertext, !ckks.ciphertext, !ckks.ciphertext
  return
}
