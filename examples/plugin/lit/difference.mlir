// RUN: fhelium-opt %s | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s -p expand-slots | filecheck %s --check-prefix=EXPANDED

// CHECK: %y = slots.difference %x by 2 : !ckks.ciphertext

// EXPANDED: [[TURNED:%.*]] = ckks.rotate %x {steps = 2 : i64}
// EXPANDED-NEXT: [[DIFFERENCE:%.*]] = ckks.sub [[TURNED]], %x
// EXPANDED-NEXT: func.return [[DIFFERENCE]]
func.func @growth(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %y = slots.difference %x by 2 : !ckks.ciphertext
  return %y : !ckks.ciphertext
}
