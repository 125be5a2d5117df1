// RUN: not fhelium-opt %s 2>&1 | filecheck %s

// The last prime cannot be dropped.
// CHECK: invalid_mod_switch_level.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.mod_switch: cannot drop 2 primes from a ciphertext at level 1
func.func @f(%x : !ckks.ciphertext<level = 1>) {
  %r = ckks.mod_switch %x {levels = 2} : !ckks.ciphertext<level = 1>
  return
}
