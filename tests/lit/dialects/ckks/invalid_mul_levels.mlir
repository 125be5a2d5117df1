// RUN: not fhelium-opt %s 2>&1 | filecheck %s

// A product needs equal levels; scales may differ.
// CHECK: invalid_mul_levels.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.mul: the operands must have equal levels: the left one has level 1, the right one 2
func.func @f(%x : !ckks.ciphertext<level = 1, scale = 2**30>, %y : !ckks.ciphertext<level = 2, scale = 2**40>) {
  %r = ckks.mul %x, %y : !ckks.ciphertext<level = 1, scale = 2**30>, !ckks.ciphertext<level = 2, scale = 2**40>
  return
}
