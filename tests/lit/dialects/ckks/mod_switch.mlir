// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: func.func @f
// CHECK: %r = ckks.mod_switch %x : !ckks.ciphertext<level = 3, scale = 2**40>
// CHECK-NEXT: %s = ckks.mod_switch %r {levels = 2 : i64} : !ckks.ciphertext<level = 2, scale = 2**40>
// CHECK-NEXT: func.return %s : !ckks.ciphertext<level = 0, scale = 2**40>
// GENERIC: "ckks.mod_switch"(%r) <{levels = 2 : i64}> : (!ckks.ciphertext<level = 2, scale = 2**40>) -> !ckks.ciphertext<level = 0, scale = 2**40>
func.func @f(%x : !ckks.ciphertext<level = 3, scale = 2**40>) -> !ckks.ciphertext<level = 0, scale = 2**40> {
  %r = ckks.mod_switch %x : !ckks.ciphertext<level = 3, scale = 2**40>
  %s = ckks.mod_switch %r {levels = 2} : !ckks.ciphertext<level = 2, scale = 2**40>
  return %s : !ckks.ciphertext<level = 0, scale = 2**40>
}
