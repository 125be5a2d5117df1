// RUN: fhelium-opt %s -p merge-rotations --remarks=all 2>&1 | filecheck %s
// RUN: fhelium-opt %s -p 'merge-rotations{new-keys=false}' --remarks=all 2>&1 \
// RUN:   | filecheck %s --check-prefix=OLD

// CHECK: merge_rotations.mlir:13:8: remark: [merge-rotations] applied: 'ckks.rotate': steps 1 and 2 in one
// CHECK: %b = ckks.rotate %x {steps = 3 : i64} : !ckks.ciphertext
// CHECK-NEXT: %c = ckks.add %x, %b : !ckks.ciphertext

// OLD: merge_rotations.mlir:13:8: remark: [merge-rotations] missed: 'ckks.rotate': steps = 3 would need a new key
// OLD: ckks.rotate %x {steps = 1 : i64}
func.func @turns(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %a = ckks.rotate %x {steps = 1} : !ckks.ciphertext
  %b = ckks.rotate %a {steps = 2} : !ckks.ciphertext
  %c = ckks.add %x, %b : !ckks.ciphertext
  return %c : !ckks.ciphertext
}
