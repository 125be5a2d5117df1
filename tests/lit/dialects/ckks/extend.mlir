// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: func.func @f
// CHECK: %e = ckks.extend %x : !ckks.ciphertext<level = 1, scale = 2**40>
// CHECK-NEXT: %s = ckks.add %e, %y : !ckks.ciphertext<level = 1, scale = 2**40, extended>
// CHECK-NEXT: func.return %s : !ckks.ciphertext<level = 1, scale = 2**40, extended>
// GENERIC: "ckks.extend"(%x) : (!ckks.ciphertext<level = 1, scale = 2**40>) -> !ckks.ciphertext<level = 1, scale = 2**40, extended>
func.func @f(%x : !ckks.ciphertext<level = 1, scale = 2**40>, %y : !ckks.ciphertext<level = 1, scale = 2**40, extended>)
    -> !ckks.ciphertext<level = 1, scale = 2**40, extended> {
  %e = ckks.extend %x : !ckks.ciphertext<level = 1, scale = 2**40>
  %s = ckks.add %e, %y : !ckks.ciphertext<level = 1, scale = 2**40, extended>
  return %s : !ckks.ciphertext<level = 1, scale = 2**40, extended>
}
