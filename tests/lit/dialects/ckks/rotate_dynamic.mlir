// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// The steps are an operand.
// CHECK-LABEL: func.func @f
// CHECK: %r = ckks.rotate_dynamic %x, %k : !ckks.ciphertext, index
// CHECK-NEXT: func.return %r : !ckks.ciphertext
// GENERIC: "ckks.rotate_dynamic"(%x, %k) : (!ckks.ciphertext, index) -> !ckks.ciphertext
func.func @f(%x : !ckks.ciphertext, %k : index) -> !ckks.ciphertext {
  %r = ckks.rotate_dynamic %x, %k : !ckks.ciphertext, index
  return %r : !ckks.ciphertext
}
