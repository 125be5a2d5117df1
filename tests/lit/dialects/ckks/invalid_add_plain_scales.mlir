// RUN: not fhelium-opt %s 2>&1 | filecheck %s

// A plaintext is added at the scale of the ciphertext.
// CHECK: invalid_add_plain_scales.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.add_plain: the operands must have equal scales: the left one has scale 2**40, the right one 2**30
func.func @f(%x : !ckks.ciphertext<scale = 2**40>, %p : !ckks.plaintext<scale = 2**30>) {
  %r = ckks.add_plain %x, %p : !ckks.ciphertext<scale = 2**40>, !ckks.plaintext<scale = 2**30>
  return
}
