// RUN: not fhelium-opt %s 2>&1 | filecheck %s

// A ciphertext of size 3 must be relinearized before its slots move.
// CHECK: invalid_rotate_size.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.rotate: the operand must have size 2, found size 3; relinearize it first
func.func @f(%x : !ckks.ciphertext<size = 3>) {
  %r = ckks.rotate %x {steps = 1} : !ckks.ciphertext<size = 3>
  return
}
