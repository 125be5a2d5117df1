// RUN: fhelium-opt %s -p 'compose-rotations{keys=1,2}' | filecheck %s

// Of several rotations only the last one may leave its division out; a rotation by nothing extends.
!ct = !ckks.ciphertext<level = 1, scale = 2**5>
!ext = !ckks.ciphertext<level = 1, scale = 2**5, extended>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [97, 193], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {
// CHECK-LABEL: func.func @f
// CHECK-NEXT: [[A:%.*]] = ckks.rotate %x {steps = 1 : i64} : !ckks.ciphertext<level = 1, scale = 2**5>
// CHECK-NEXT: [[B:%.*]] = ckks.rotate [[A]] {steps = 2 : i64, extended} : !ckks.ciphertext<level = 1, scale = 2**5>
// CHECK-NEXT: [[C:%.*]] = ckks.extend %x : !ckks.ciphertext<level = 1, scale = 2**5>
// CHECK-NEXT: [[S:%.*]] = ckks.add [[B]], [[C]] : !ckks.ciphertext<level = 1, scale = 2**5, extended>
// CHECK-NEXT: [[D:%.*]] = ckks.mod_down [[S]]
// CHECK-NEXT: [[E:%.*]] = ckks.rotate [[A]] {steps = 2 : i64} : !ckks.ciphertext<level = 1, scale = 2**5>
// CHECK-NEXT: ckks.add [[D]], [[E]]
func.func @f(%x : !ct) -> !ct {
  %a = ckks.rotate %x {steps = 3, extended} : !ct
  %b = ckks.rotate %x {steps = 8, extended} : !ct
  %s = ckks.add %a, %b : !ext
  %d = ckks.mod_down %s : !ext
  %c = ckks.rotate %x {steps = 3} : !ct
  %r = ckks.add %d, %c : !ct
  return %r : !ct
}
}
