// RUN: not fhelium-opt %s -p 'compose-rotations{keys=2,4}' 2>&1 | filecheck %s
// RUN: not fhelium-opt %s -p 'compose-rotations{keys=1,8}' 2>&1 | filecheck %s --check-prefix=KEY

// KEY: error: compose-rotations: a rotation by 8 of 8 slots needs no key
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1125899906842177, 1099511627297, 1099511627873], p = [1125899906842273], digits = 3, scale = 2**40, secret = ternary, insecure>} {
func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %a = ckks.rotate %x {steps = 6} : !ckks.ciphertext
// CHECK: compose_rotations_errors.mlir:[[# @LINE + 1]]:8: error: compose-rotations: a rotation by 3 of 8 slots cannot be composed of rotations by 2, 4
  %b = ckks.rotate %a {steps = 3} : !ckks.ciphertext
  return %b : !ckks.ciphertext
}
}
