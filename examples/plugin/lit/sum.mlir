// RUN: fhelium-opt %s | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s -p expand-slots | filecheck %s --check-prefix=EXPANDED

// CHECK: %y = slots.sum %x over 4 : !ckks.ciphertext

// EXPANDED: [[R1:%.*]] = ckks.rotate %x {steps = 1 : i64}
// EXPANDED-NEXT: [[S1:%.*]] = ckks.add %x, [[R1]]
// EXPANDED-NEXT: [[R2:%.*]] = ckks.rotate [[S1]] {steps = 2 : i64}
// EXPANDED-NEXT: [[S2:%.*]] = ckks.add [[S1]], [[R2]]
// EXPANDED-NEXT: func.return [[S2]]
func.func @sum(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %y = slots.sum %x over 4 : !ckks.ciphertext
  return %y : !ckks.ciphertext
}
