// RUN: not fhelium-opt %s 2>&1 | filecheck %s

// A product needs equal levels; scales may differ.
// CHECK: invalid_mul_plain_levels.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.mul_plain: the operands must have equal levels: the left one has level 0, the right one 1
func.func @f(%x : !ckks.ciphertext<level = 0>, %p : !ckks.plaintext<level = 1>) {
  %r = ckks.mul_plain %x, %p : !ckks.ciphertext<level = 0>, !ckks.plaintext<level = 1>
  return
}
