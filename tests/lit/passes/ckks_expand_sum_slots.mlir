// RUN: fhelium-opt %s -p ckks-expand | filecheck %s

module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1125899906842177, 1099511627297, 1099511627873], p = [1125899906842273], digits = 3, scale = 2**40, secret = ternary, insecure>} {

// CHECK-LABEL: func.func @power_of_two
// CHECK-NEXT: [[R1:%.*]] = ckks.rotate %x {steps = 1 : i64}
// CHECK-NEXT: [[S2:%.*]] = ckks.add %x, [[R1]]
// CHECK-NEXT: [[R2:%.*]] = ckks.rotate [[S2]] {steps = 2 : i64}
// CHECK-NEXT: %s = ckks.add [[S2]], [[R2]]
// CHECK-NEXT: func.return %s
func.func @power_of_two(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %s = ckks.sum_slots %x {count = 4} : !ckks.ciphertext
  return %s : !ckks.ciphertext
}

// Three slots are two and one.
// CHECK-LABEL: func.func @three
// CHECK-NEXT: [[R1:%.*]] = ckks.rotate %x {steps = 1 : i64}
// CHECK-NEXT: [[S2:%.*]] = ckks.add %x, [[R1]]
// CHECK-NEXT: [[R2:%.*]] = ckks.rotate %x {steps = 2 : i64}
// CHECK-NEXT: %s = ckks.add [[S2]], [[R2]]
// CHECK-NEXT: func.return %s
func.func @three(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %s = ckks.sum_slots %x {count = 3} : !ckks.ciphertext
  return %s : !ckks.ciphertext
}

// CHECK-LABEL: func.func @one
// CHECK-NEXT: func.return %x
func.func @one(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %s = ckks.sum_slots %x {count = 1} : !ckks.ciphertext
  return %s : !ckks.ciphertext
}
}
