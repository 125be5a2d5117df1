// RUN: not fhelium-opt %s 2>&1 | filecheck %s

// A ciphertext of size 3 must be relinearized before its slots are conjugated.
// CHECK: invalid_conjugate_size.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.conjugate: the operand must have size 2, found size 3; relinearize it first
func.func @f(%x : !ckks.ciphertext<size = 3>) {
  %r = ckks.conjugate %x : !ckks.ciphertext<size = 3>
  return
}
