// RUN: not fhelium-opt %s 2>&1 | filecheck %s

// A plaintext is subtracted at the level of the ciphertext.
// CHECK: invalid_sub_plain_levels.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.sub_plain: the operands must have equal levels: the left one has level 2, the right one 1
func.func @f(%x : !ckks.ciphertext<level = 2>, %p : !ckks.plaintext<level = 1>) {
  %r = ckks.sub_plain %x, %p : !ckks.ciphertext<level = 2>, !ckks.plaintext<level = 1>
  return
}
