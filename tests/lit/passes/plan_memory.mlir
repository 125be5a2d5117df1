// RUN: fhelium-opt %s -p plan-memory --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err
// RUN: fhelium-opt %s -p plan-memory > %t.once && fhelium-opt %t.once -p plan-memory > %t.twice && diff %t.once %t.twice

!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
!e4 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 4)>
!pair2 = !rns.poly<16, q 0:2, components = 2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
!one = !rns.poly<16, q 0:1, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!one2 = !rns.poly<16, q 0:1, evaluation(bit_reversed), mont64(e = 0, below = 2)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {

// In a chain of bundles of 256 bytes two places are enough: the third result lies where the first one was, but no result
// lies where its region still reads. The result of the function has a buffer of its own.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME:    attributes {memory.arena = 512 : i64}
// CHECK-NEXT:    %s = fusion.region({{.*}}) attributes {offsets = [0 : i64]} {
// CHECK:         %t = fusion.region({{.*}}) attributes {offsets = [256 : i64]} {
// CHECK:         %u = fusion.region({{.*}}) attributes {offsets = [0 : i64]} {
// CHECK:         %v = fusion.region({{.*}}) attributes {offsets = [-1 : i64]} {
// REMARKS:      .mlir:[[# @LINE + 1]]:1: remark: [plan-memory] applied: 'func.func': an arena of 512 bytes for 1024 bytes of results
func.func @chain(%x : !e2) -> !e2 {
  %s = fusion.region(%a = %x : !e2) -> (!e2) {
    %n = rns.set_representative %a : !e2 -> !e2
    fusion.yield %n : !e2
  }
  %t = fusion.region(%a = %s : !e2) -> (!e2) {
    %n = rns.set_representative %a : !e2 -> !e2
    fusion.yield %n : !e2
  }
  %u = fusion.region(%a = %t : !e2) -> (!e2) {
    %n = rns.set_representative %a : !e2 -> !e2
    fusion.yield %n : !e2
  }
  %v = fusion.region(%a = %u : !e2) -> (!e2) {
    %n = rns.set_representative %a : !e2 -> !e2
    fusion.yield %n : !e2
  }
  return %v : !e2
}

// %s lives until the last region reads it.
// CHECK-LABEL: func.func @long_lived(
// CHECK-SAME:    attributes {memory.arena = 768 : i64}
// CHECK:         %s = fusion.region({{.*}}) attributes {offsets = [0 : i64]} {
// CHECK:         %t = fusion.region({{.*}}) attributes {offsets = [256 : i64]} {
// CHECK:         %u = fusion.region({{.*}}) attributes {offsets = [512 : i64]} {
// CHECK:         %v = fusion.region({{.*}}) attributes {offsets = [-1 : i64]} {
// REMARKS-NEXT: .mlir:[[# @LINE + 1]]:1: remark: [plan-memory] applied: 'func.func': an arena of 768 bytes for 1024 bytes of results
func.func @long_lived(%x : !e2) -> !e4 {
  %s = fusion.region(%a = %x : !e2) -> (!e2) {
    %n = rns.set_representative %a : !e2 -> !e2
    fusion.yield %n : !e2
  }
  %t = fusion.region(%a = %s : !e2) -> (!e2) {
    %n = rns.set_representative %a : !e2 -> !e2
    fusion.yield %n : !e2
  }
  %u = fusion.region(%a = %t : !e2) -> (!e2) {
    %n = rns.set_representative %a : !e2 -> !e2
    fusion.yield %n : !e2
  }
  %v = fusion.region(%a = %u : !e2, %b = %s : !e2) -> (!e4) {
    %n = rns.add %a, %b : !e2
    fusion.yield %n : !e4
  }
  return %v : !e4
}

// First fit: one limb (128 bytes, 256 with the alignment) goes to the gap that %s left; two components of two limbs
// (512 bytes) do not fit there. A result that the function returns has no place even if a region reads it.
// CHECK-LABEL: func.func @gaps(
// CHECK-SAME:    attributes {memory.arena = 1024 : i64}
// CHECK-NEXT:    %s, %t = fusion.region({{.*}}) attributes {offsets = [0 : i64, 256 : i64]} {
// CHECK:         %r = fusion.region({{.*}}) attributes {offsets = [-1 : i64]} {
// CHECK:         %w = fusion.region({{.*}}) attributes {offsets = [512 : i64]} {
// CHECK:         %u = fusion.region({{.*}}) attributes {offsets = [0 : i64]} {
// CHECK:         %v = fusion.region({{.*}}) attributes {offsets = [-1 : i64]} {
// CHECK:         %y = fusion.region({{.*}}) attributes {offsets = [-1 : i64]} {
// CHECK:         %z = fusion.region({{.*}}) attributes {offsets = [-1 : i64]} {
// REMARKS-NEXT: .mlir:[[# @LINE + 1]]:1: remark: [plan-memory] applied: 'func.func': an arena of 1024 bytes for 1792 bytes of results
func.func @gaps(%x : !one, %p : !pair2) -> (!one2, !one2, !one2, !pair2) {
  %s, %t = fusion.region(%a = %x : !one) -> (!one2, !one2) {
    %n = rns.negate %a : !one
    %m = rns.add %a, %a : !one
    fusion.yield %n, %m : !one2, !one2
  }
  %r = fusion.region(%a = %s : !one2) -> (!one2) {
    %n = rns.set_representative %a : !one2 -> !one2
    fusion.yield %n : !one2
  }
  %w = fusion.region(%a = %p : !pair2) -> (!pair2) {
    %n = rns.set_representative %a : !pair2 -> !pair2
    fusion.yield %n : !pair2
  }
  %u = fusion.region(%a = %r : !one2) -> (!one2) {
    %n = rns.set_representative %a : !one2 -> !one2
    fusion.yield %n : !one2
  }
  %v = fusion.region(%a = %u : !one2) -> (!one2) {
    %n = rns.set_representative %a : !one2 -> !one2
    fusion.yield %n : !one2
  }
  %y = fusion.region(%a = %t : !one2) -> (!one2) {
    %n = rns.set_representative %a : !one2 -> !one2
    fusion.yield %n : !one2
  }
  %z = fusion.region(%a = %w : !pair2) -> (!pair2) {
    %n = rns.set_representative %a : !pair2 -> !pair2
    fusion.yield %n : !pair2
  }
  return %r, %v, %y, %z : !one2, !one2, !one2, !pair2
}

// Nothing to place.
// CHECK-LABEL: func.func @identity(
// CHECK-NOT:     memory.arena
func.func @identity(%x : !e2) -> !e2 {
  return %x : !e2
}
// REMARKS-NOT: remark:
}
