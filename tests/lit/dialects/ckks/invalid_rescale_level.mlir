// RUN: not fhelium-opt %s 2>&1 | filecheck %s

// The last prime cannot be given up.
// CHECK: invalid_rescale_level.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.rescale: a ciphertext at level 0 has no prime to give up
func.func @f(%x : !ckks.ciphertext<level = 0, scale = 2**40>) {
  %r = ckks.rescale %x : !ckks.ciphertext<level = 0, scale = 2**40>
  return
}
