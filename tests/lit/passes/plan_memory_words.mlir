// RUN: fhelium-opt %s -p plan-memory | filecheck %s

!w = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont32(e = 0, below = 1)>
!w2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont32(e = 0, below = 2)>
!w4 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont32(e = 0, below = 4)>
module attributes {rns.arithmetic = #rns.arithmetic<mont32>} {

// Words of 32 bits: 2 limbs of 16 words are 128 bytes.
// CHECK-LABEL: func.func @words(
// CHECK-SAME:    attributes {memory.arena = 512 : i64}
// CHECK-NEXT:    %s, %r, %q = fusion.region({{.*}}) attributes {offsets = [0 : i64, 256 : i64, -1 : i64]} {
func.func @words(%x : !w) -> (!w2, !w4) {
  %s, %r, %q = fusion.region(%a = %x : !w) -> (!w2, !w2, !w2) {
    %n = rns.negate %a : !w
    %m = rns.add %a, %a : !w
    fusion.yield %n, %m, %n : !w2, !w2, !w2
  }
  %t = fusion.region(%a = %s : !w2, %b = %r : !w2) -> (!w4) {
    %n = rns.add %a, %b : !w2
    fusion.yield %n : !w4
  }
  return %q, %t : !w2, !w4
}
}
