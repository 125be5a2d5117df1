// RUN: fhelium-opt %s -p 'compose-rotations{keys=1,2,4}' | filecheck %s
// RUN: fhelium-opt %s -p 'compose-rotations{keys=1,2,4}' --remarks applied 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK
// RUN: fhelium-opt %s -p 'compose-rotations{keys=2,-1}' | filecheck %s --check-prefix=SIGNED
// RUN: fhelium-opt %s -p compose-rotations | filecheck %s --check-prefix=ANY
// RUN: fhelium-opt %s -p 'unroll-loops,ckks-expand,compose-rotations{keys=1,2,4},fhelium-default' -t resources-json | filecheck %s --check-prefix=KEYS

module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1125899906842177, 1099511627297, 1099511627873], p = [1125899906842273], digits = 3, scale = 2**40, secret = ternary, insecure>} {

// Of eight slots: 5 = 1 + 4 and -1 = 1 + 2 + 4 share the first step. With 2 and -1, 5 is -1 - 1 - 1.
// CHECK-LABEL: func.func @composed
// CHECK-NEXT: [[ONE:%.*]] = ckks.rotate %x {steps = 1 : i64}
// CHECK-NEXT: %a = ckks.rotate [[ONE]] {steps = 4 : i64}
// CHECK-NEXT: [[THREE:%.*]] = ckks.rotate [[ONE]] {steps = 2 : i64}
// CHECK-NEXT: %b = ckks.rotate [[THREE]] {steps = 4 : i64}
// CHECK-NEXT: %c = ckks.rotate %x {steps = 2 : i64}
// CHECK-NEXT: ckks.add %a, %b
// SIGNED-LABEL: func.func @composed
// SIGNED-NEXT: %b = ckks.rotate %x {steps = -1 : i64}
// SIGNED-NEXT: [[TWO:%.*]] = ckks.rotate %b {steps = -1 : i64}
// SIGNED-NEXT: %a = ckks.rotate [[TWO]] {steps = -1 : i64}
// SIGNED-NEXT: %c = ckks.rotate %x {steps = 2 : i64}
// ANY-LABEL: func.func @composed
// ANY-NEXT: %a = ckks.rotate %x {steps = 5 : i64}
// ANY-NEXT: %b = ckks.rotate %x {steps = -1 : i64}
// REMARK: compose_rotations.mlir:[[# @LINE + 2]]:8: remark: [compose-rotations] applied: 'ckks.rotate': a rotation by 5 of 8 slots: 1 + 4
func.func @composed(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %a = ckks.rotate %x {steps = 5} : !ckks.ciphertext
  %b = ckks.rotate %x {steps = -1} : !ckks.ciphertext
  %c = ckks.rotate %x {steps = 2} : !ckks.ciphertext
  %s = ckks.add %a, %b : !ckks.ciphertext
  %t = ckks.add %s, %c : !ckks.ciphertext
  return %t : !ckks.ciphertext
}

// Rotations by multiples of the slot count are none.
// CHECK-LABEL: func.func @nothing
// CHECK-NEXT: ckks.add %x, %x
// ANY-LABEL: func.func @nothing
// ANY-NEXT: ckks.add %x, %x
func.func @nothing(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %a = ckks.rotate %x {steps = 0} : !ckks.ciphertext
  %b = ckks.rotate %x {steps = -16} : !ckks.ciphertext
  %s = ckks.add %a, %b : !ckks.ciphertext
  return %s : !ckks.ciphertext
}

// A rotation of a rotation is merged if the inner one has no other use: 3 + 1 = 4 is one key switch instead of three.
// CHECK-LABEL: func.func @merged
// CHECK-NEXT: %b = ckks.rotate %x {steps = 4 : i64}
// CHECK-NEXT: func.return %b
// ANY-LABEL: func.func @merged
// ANY-NEXT: %b = ckks.rotate %x {steps = 4 : i64}
// REMARK: compose_rotations.mlir:[[# @LINE + 3]]:8: remark: [compose-rotations] applied: 'ckks.rotate': merged with a rotation by 3
func.func @merged(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %a = ckks.rotate %x {steps = 3} : !ckks.ciphertext
  %b = ckks.rotate %a {steps = 1} : !ckks.ciphertext
  return %b : !ckks.ciphertext
}

// Where it has another use, merging saves nothing. Here 1 + 2 would take as many key switches, too.
// CHECK-LABEL: func.func @kept
// CHECK-NEXT: %a = ckks.rotate %x {steps = 1 : i64}
// CHECK-NEXT: %b = ckks.rotate %a {steps = 4 : i64}
// CHECK-NEXT: [[AGAIN:%.*]] = ckks.rotate %b {steps = 1 : i64}
// CHECK-NEXT: %c = ckks.rotate [[AGAIN]] {steps = 2 : i64}
// CHECK-NEXT: ckks.add %a, %c
// ANY-LABEL: func.func @kept
// ANY-NEXT: %a = ckks.rotate %x {steps = 1 : i64}
// ANY-NEXT: %c = ckks.rotate %a {steps = 7 : i64}
func.func @kept(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %a = ckks.rotate %x {steps = 1} : !ckks.ciphertext
  %b = ckks.rotate %a {steps = 4} : !ckks.ciphertext
  %c = ckks.rotate %b {steps = 3} : !ckks.ciphertext
  %s = ckks.add %a, %c : !ckks.ciphertext
  return %s : !ckks.ciphertext
}

// The program needs the keys of 1, 2 and 4 only: 5, 5^2 = 25 and 5^4 = 17 modulo 32.
// KEYS: "required_keys"
// KEYS-DAG: "galois": 5
// KEYS-DAG: "galois": 25
// KEYS-DAG: "galois": 17
// KEYS-NOT: "galois": 29
}
