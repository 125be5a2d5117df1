// RUN: not fhelium-opt %s 2>&1 | filecheck %s

// Products are taken in the evaluation domain.
// CHECK: invalid_mul_domain.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.mul: the operands must be in the evaluation domain
func.func @f(%x : !ckks.ciphertext<domain = coefficient>) {
  %r = ckks.mul %x, %x : !ckks.ciphertext<domain = coefficient>
  return
}
