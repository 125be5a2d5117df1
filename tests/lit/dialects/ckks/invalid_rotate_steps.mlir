// RUN: not fhelium-opt %s 2>&1 | filecheck %s

// A rotation says by how much.
// CHECK: invalid_rotate_steps.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.rotate: needs an integer property `steps`
func.func @f(%x : !ckks.ciphertext) {
  %r = ckks.rotate %x : !ckks.ciphertext
  return
}
