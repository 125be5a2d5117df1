// RUN: not fhelium-opt %s 2>&1 | filecheck %s

// At least one prime is dropped.
// CHECK: invalid_mod_switch_count.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.mod_switch: levels must be at least 1, found 0
func.func @f(%x : !ckks.ciphertext<level = 1>) {
  %r = ckks.mod_switch %x {levels = 0} : !ckks.ciphertext<level = 1>
  return
}
