// RUN: fhelium-opt %s -p plan-memory | filecheck %s
// RUN: fhelium-opt %s -p "assign-streams{streams=1},plan-memory" | filecheck %s --check-prefix=ONE

!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {

// %t0 and %u0 live at the same time on two streams. When %v0 begins, %t0 has been read, on its own stream; of %u0, which
// comes earlier in the text, too, that is not certain. So %v0 takes the place of %t0.
// CHECK-LABEL: func.func @two_chains(
// CHECK-SAME:    attributes {memory.arena = 768 : i64}
// CHECK-NEXT:    %s = fusion.region({{.*}}) attributes {offsets = [0 : i64]} {
// CHECK:         %u0 = fusion.region({{.*}}) attributes {stream = 1 : i64, offsets = [256 : i64]} {
// CHECK:         %u1 = fusion.region({{.*}}) attributes {stream = 1 : i64, offsets = [-1 : i64]} {
// CHECK:         %t0 = fusion.region({{.*}}) attributes {offsets = [512 : i64]} {
// CHECK:         %t1 = fusion.region({{.*}}) attributes {offsets = [-1 : i64]} {
// CHECK:         %v0 = fusion.region({{.*}}) attributes {offsets = [512 : i64]} {
// CHECK:         %v1 = fusion.region({{.*}}) attributes {offsets = [-1 : i64]} {
// ONE-LABEL: func.func @two_chains(
// ONE-SAME:    attributes {memory.arena = 512 : i64}
// ONE-NEXT:    %s = fusion.region({{.*}}) attributes {offsets = [0 : i64]} {
// ONE:         %u0 = fusion.region({{.*}}) attributes {offsets = [256 : i64]} {
// ONE:         %t0 = fusion.region({{.*}}) attributes {offsets = [256 : i64]} {
// ONE:         %v0 = fusion.region({{.*}}) attributes {offsets = [256 : i64]} {
func.func @two_chains(%x : !e2) -> (!e2, !e2, !e2) {
  %s = fusion.region(%a = %x : !e2) -> (!e2) {
    %n = rns.set_representative %a : !e2 -> !e2
    fusion.yield %n : !e2
  }
  %u0 = fusion.region(%a = %s : !e2) -> (!e2) attributes {stream = 1 : i64} {
    %n = rns.set_representative %a : !e2 -> !e2
    fusion.yield %n : !e2
  }
  %u1 = fusion.region(%a = %u0 : !e2) -> (!e2) attributes {stream = 1 : i64} {
    %n = rns.set_representative %a : !e2 -> !e2
    fusion.yield %n : !e2
  }
  %t0 = fusion.region(%a = %s : !e2) -> (!e2) {
    %n = rns.set_representative %a : !e2 -> !e2
    fusion.yield %n : !e2
  }
  %t1 = fusion.region(%a = %t0 : !e2) -> (!e2) {
    %n = rns.set_representative %a : !e2 -> !e2
    fusion.yield %n : !e2
  }
  %v0 = fusion.region(%a = %s : !e2) -> (!e2) {
    %n = rns.set_representative %a : !e2 -> !e2
    fusion.yield %n : !e2
  }
  %v1 = fusion.region(%a = %v0 : !e2) -> (!e2) {
    %n = rns.set_representative %a : !e2 -> !e2
    fusion.yield %n : !e2
  }
  return %u1, %t1, %v1 : !e2, !e2, !e2
}

}
