// Of the three functions and their ops, what makes the pass fail is left.
// RUN: fhelium-opt %s --reduce 'fhelium-opt {file} -p ckks-check' --reduce-limit 60 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=NOTE < %t.err
// RUN: not fhelium-opt %s --reduce 'fhelium-opt -p cse' 2>&1 | filecheck %s --check-prefix=FINE

// CHECK:     func.func @wrong(
// CHECK-NOT: @right
// CHECK-NOT: ckks.negate
// NOTE:      note: reducing for: {{.*}}level
// NOTE-NEXT: note: {{[0-9]}} of 11 ops, {{[0-9]+}} runs
// FINE:      error: the command does not fail on '{{.*}}reduce.mlir'

module attributes {ckks.params = #ckks.params<
  ring_degree = 64, q = [1152921504606844289, 1099511623297], p = [1152921504606844417],
  digits = 2, scale = 2**40, secret = ternary, insecure>} {
func.func @right(%x : !ckks.ciphertext<level = 1, scale = 2**40>) -> !ckks.ciphertext<level = 1, scale = 2**40> {
  %y = ckks.negate %x : !ckks.ciphertext<level = 1, scale = 2**40>
  return %y : !ckks.ciphertext<level = 1, scale = 2**40>
}
func.func @wrong(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %a = ckks.negate %x : !ckks.ciphertext
  %b = ckks.negate %a : !ckks.ciphertext
  return %b : !ckks.ciphertext
}
func.func @right_too(%x : !ckks.ciphertext<level = 1, scale = 2**40>) -> !ckks.ciphertext<level = 1, scale = 2**40> {
  %y = ckks.negate %x : !ckks.ciphertext<level = 1, scale = 2**40>
  return %y : !ckks.ciphertext<level = 1, scale = 2**40>
}
}
