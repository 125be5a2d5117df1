// RUN: not fhelium-opt %s 2>&1 | filecheck %s

// A sum needs equal sizes.
// CHECK: invalid_add_sizes.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.add: the operands must have equal sizes: the left one has size 2, the right one 3
func.func @f(%x : !ckks.ciphertext<level = ?>, %y : !ckks.ciphertext<size = 3>) {
  %r = ckks.add %x, %y : !ckks.ciphertext<level = ?>, !ckks.ciphertext<size = 3>
  return
}
