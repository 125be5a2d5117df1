// RUN: not fhelium-opt %s 2>&1 | filecheck %s

// A product of size 3 must be relinearized before it is a factor.
// CHECK: invalid_mul_size.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.mul: the operand must have size 2, found size 3; relinearize it first
func.func @f(%x : !ckks.ciphertext<size = 3>) {
  %r = ckks.mul %x, %x : !ckks.ciphertext<size = 3>
  return
}
