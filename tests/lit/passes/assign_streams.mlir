// RUN: fhelium-opt %s -p assign-streams --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err
// RUN: fhelium-opt %s -p "assign-streams{streams=3}" | filecheck %s --check-prefix=THREE
// RUN: fhelium-opt %s -p "assign-streams{device=cpu}" | filecheck %s --check-prefix=ONE
// RUN: fhelium-opt %s -p "assign-streams,assign-streams{streams=1}" | filecheck %s --check-prefix=ONE
// RUN: fhelium-opt %s -p assign-streams > %t.once && fhelium-opt %t.once -p assign-streams > %t.twice && diff %t.once %t.twice

// One stream is not written at all.
// ONE: builtin.module
// ONE-NOT: stream

!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
!e4 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 4)>
module {

// Each region waits for the one before it, even if it also reads what is older: a chain, on one stream.
// CHECK-LABEL: func.func @chain(
// CHECK-NOT:     stream
// CHECK:         return
func.func @chain(%x : !e2) -> !e4 {
  %s = fusion.region(%a = %x : !e2) -> (!e2) {
    %n = rns.set_representative %a : !e2 -> !e2
    fusion.yield %n : !e2
  }
  %t = fusion.region(%a = %s : !e2) -> (!e2) {
    %n = rns.set_representative %a : !e2 -> !e2
    fusion.yield %n : !e2
  }
  %u = fusion.region(%a = %t : !e2, %b = %s : !e2) -> (!e4) {
    %n = rns.add %a, %b : !e2
    fusion.yield %n : !e4
  }
  return %u : !e4
}

// Three chains of two regions behind %s: two streams take turns, three have one chain each.
// CHECK-LABEL: func.func @three_chains(
// CHECK:         %s = fusion.region({{.*>\) \{}}
// CHECK:         %t0 = fusion.region({{.*>\) \{}}
// CHECK:         %t1 = fusion.region({{.*>\) \{}}
// CHECK:         %u0 = fusion.region({{.*}}) attributes {stream = 1 : i64} {
// CHECK:         %u1 = fusion.region({{.*}}) attributes {stream = 1 : i64} {
// CHECK:         %v0 = fusion.region({{.*>\) \{}}
// CHECK:         %v1 = fusion.region({{.*>\) \{}}
// THREE-LABEL: func.func @three_chains(
// THREE:         %t1 = fusion.region({{.*>\) \{}}
// THREE:         %u0 = fusion.region({{.*}}) attributes {stream = 1 : i64} {
// THREE:         %u1 = fusion.region({{.*}}) attributes {stream = 1 : i64} {
// THREE:         %v0 = fusion.region({{.*}}) attributes {stream = 2 : i64} {
// THREE:         %v1 = fusion.region({{.*}}) attributes {stream = 2 : i64} {
// REMARKS:      .mlir:[[# @LINE + 1]]:1: remark: [assign-streams] applied: 'func.func': 2 of 7 regions on 1 more stream; the longest chain moves 71% of all words
func.func @three_chains(%x : !e2) -> (!e2, !e2, !e2) {
  %s = fusion.region(%a = %x : !e2) -> (!e2) {
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
  %u0 = fusion.region(%a = %s : !e2) -> (!e2) {
    %n = rns.set_representative %a : !e2 -> !e2
    fusion.yield %n : !e2
  }
  %u1 = fusion.region(%a = %u0 : !e2) -> (!e2) {
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
  return %t1, %u1, %v1 : !e2, !e2, !e2
}

// What an implementation executes is alone: behind it the streams begin anew.
// CHECK-LABEL: func.func @alone(
// CHECK:         %t = fusion.region({{.*}}) attributes {stream = 1 : i64} {
// CHECK:         %u = fusion.region({{.*}}) attributes {fusion.implementation = "library"} {
// CHECK:         %v = fusion.region({{.*>\) \{}}
// CHECK:         %w = fusion.region({{.*}}) attributes {stream = 1 : i64} {
func.func @alone(%x : !e2) -> (!e2, !e2, !e2, !e2, !e2) {
  %s = fusion.region(%a = %x : !e2) -> (!e2) {
    %n = rns.set_representative %a : !e2 -> !e2
    fusion.yield %n : !e2
  }
  %t = fusion.region(%a = %x : !e2) -> (!e2) {
    %n = rns.set_representative %a : !e2 -> !e2
    fusion.yield %n : !e2
  }
  %u = fusion.region(%a = %x : !e2) -> (!e2) attributes {fusion.implementation = "library"} {
    %n = rns.set_representative %a : !e2 -> !e2
    fusion.yield %n : !e2
  }
  %v = fusion.region(%a = %x : !e2) -> (!e2) {
    %n = rns.set_representative %a : !e2 -> !e2
    fusion.yield %n : !e2
  }
  %w = fusion.region(%a = %x : !e2) -> (!e2) {
    %n = rns.set_representative %a : !e2 -> !e2
    fusion.yield %n : !e2
  }
  return %s, %t, %u, %v, %w : !e2, !e2, !e2, !e2, !e2
}

}
