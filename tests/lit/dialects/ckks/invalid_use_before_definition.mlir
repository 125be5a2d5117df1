// RUN: not fhelium-opt %s 2>&1 | filecheck %s

// Values are defined before they are used.
// CHECK: invalid_use_before_definition.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: {{.*}}%a is used before its definition (at {{.*}}:[[# @LINE + 3]]:{{[0-9]+}})
func.func @f(%x : !ckks.ciphertext) {
  %r = ckks.add %x, %a : !ckks.ciphertext
  %a = ckks.negate %x : !ckks.ciphertext
  return
}
