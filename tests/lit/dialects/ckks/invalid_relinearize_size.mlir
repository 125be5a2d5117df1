// RUN: not fhelium-opt %s 2>&1 | filecheck %s

// There is nothing to relinearize in a ciphertext of size 2.
// CHECK: invalid_relinearize_size.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.relinearize: the operand must have size 3, found size 2
func.func @f(%x : !ckks.ciphertext<level = ?>) {
  %r = ckks.relinearize %x : !ckks.ciphertext<level = ?>
  return
}
