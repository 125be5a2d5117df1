// RUN: not fhelium-opt %s 2>&1 | filecheck %s

// A difference needs equal domains.
// CHECK: invalid_sub_domains.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.sub: the operands must have equal domains: the left one has domain evaluation, the right one coefficient
func.func @f(%x : !ckks.ciphertext, %y : !ckks.ciphertext<domain = coefficient>) {
  %r = ckks.sub %x, %y : !ckks.ciphertext, !ckks.ciphertext<domain = coefficient>
  return
}
