// RUN: not fhelium-opt %s 2>&1 | filecheck %s

// A result type that is written out, as in the generic form, is compared with what follows.
// CHECK: invalid_result.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'ckks.rescale': the result's level does not follow from the operands: expected !ckks.ciphertext<level = 1, scale = 2**80 / q2>, found !ckks.ciphertext<level = 2, scale = 2**80 / q2>
func.func @f(%x : !ckks.ciphertext<level = 2, scale = 2**80>) {
  %r = "ckks.rescale"(%x) : (!ckks.ciphertext<level = 2, scale = 2**80>) -> !ckks.ciphertext<level = 2, scale = 2**80 / q2>
  return
}
