// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: func.func @f
// CHECK: %r = ckks.conjugate %x : !ckks.ciphertext<level = 1, scale = 2**40>
// CHECK-NEXT: func.return %r : !ckks.ciphertext<level = 1, scale = 2**40>
// GENERIC: "ckks.conjugate"(%x) : (!ckks.ciphertext<level = 1, scale = 2**40>) -> !ckks.ciphertext<level = 1, scale = 2**40>
func.func @f(%x : !ckks.ciphertext<level = 1, scale = 2**40>) -> !ckks.ciphertext<level = 1, scale = 2**40> {
  %r = ckks.conjugate %x : !ckks.ciphertext<level = 1, scale = 2**40>
  return %r : !ckks.ciphertext<level = 1, scale = 2**40>
}
