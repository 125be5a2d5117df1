// RUN: not fhelium-opt %s 2>&1 | filecheck %s

// A sum needs equal scales, exactly: 2**40 is not 2**80 / q1 even where q1 is near 2**40.
// CHECK: invalid_add_scales.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.add: the operands must have equal scales: the left one has scale 2**40, the right one 2**80 / q1
func.func @f(%x : !ckks.ciphertext<level = 0, scale = 2**40>, %y : !ckks.ciphertext<level = 0, scale = 2**80 / q1>) {
  %r = ckks.add %x, %y : !ckks.ciphertext<level = 0, scale = 2**40>, !ckks.ciphertext<level = 0, scale = 2**80 / q1>
  return
}
