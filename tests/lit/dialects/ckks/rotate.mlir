// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// Steps may be negative; other attributes are kept.
// CHECK-LABEL: func.func @f
// CHECK: %r = ckks.rotate %x {steps = 3 : i64} : !ckks.ciphertext<level = 1, scale = 2**40>
// CHECK-NEXT: %s = ckks.rotate %r {steps = -1 : i64, note = "back"} : !ckks.ciphertext<level = 1, scale = 2**40>
// CHECK-NEXT: func.return %s : !ckks.ciphertext<level = 1, scale = 2**40>
// GENERIC: "ckks.rotate"(%r) <{steps = -1 : i64}> {note = "back"} : (!ckks.ciphertext<level = 1, scale = 2**40>) -> !ckks.ciphertext<level = 1, scale = 2**40>
func.func @f(%x : !ckks.ciphertext<level = 1, scale = 2**40>) -> !ckks.ciphertext<level = 1, scale = 2**40> {
  %r = ckks.rotate %x {steps = 3} : !ckks.ciphertext<level = 1, scale = 2**40>
  %s = ckks.rotate %r {note = "back", steps = -1 : i64} : !ckks.ciphertext<level = 1, scale = 2**40>
  return %s : !ckks.ciphertext<level = 1, scale = 2**40>
}
