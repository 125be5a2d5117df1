// RUN: not fhelium-opt %s 2>&1 | filecheck %s

// A sum needs equal levels.
// CHECK: invalid_add_levels.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.add: the operands must have equal levels: the left one has level 1, the right one 0
func.func @f(%x : !ckks.ciphertext<level = 1, scale = 2**40>, %y : !ckks.ciphertext<level = 0, scale = 2**40>) {
  %r = ckks.add %x, %y : !ckks.ciphertext<level = 1, scale = 2**40>, !ckks.ciphertext<level = 0, scale = 2**40>
  return
}
