// RUN: fhelium-opt %s -p 'plan-memory{reuse=false}' | filecheck %s --check-prefix=SEPARATE
// RUN: fhelium-opt %s -p 'plan-memory{alignment=1024}' | filecheck %s --check-prefix=WIDE
// RUN: fhelium-opt %s -p 'plan-memory{alignment=8}' | filecheck %s --check-prefix=NARROW

!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
!one2 = !rns.poly<16, q 0:1, evaluation(bit_reversed), mont64(e = 0, below = 2)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {

// Every buffer has memory of its own ...
// SEPARATE-LABEL: func.func @chain(
// SEPARATE-SAME:    attributes {memory.arena = 768 : i64}
// SEPARATE-NEXT:    %s = fusion.region({{.*}}) attributes {offsets = [0 : i64]} {
// SEPARATE:         %t = fusion.region({{.*}}) attributes {offsets = [256 : i64]} {
// SEPARATE:         %u = fusion.region({{.*}}) attributes {offsets = [512 : i64]} {
// SEPARATE:         %v = fusion.region({{.*}}) attributes {offsets = [-1 : i64]} {
// ... or begins at a multiple of 1024 bytes ...
// WIDE-LABEL: func.func @chain(
// WIDE-SAME:    attributes {memory.arena = 2048 : i64}
// WIDE:         %t = fusion.region({{.*}}) attributes {offsets = [1024 : i64]} {
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

// ... or of 8: a limb of 128 bytes leaves no gap.
// NARROW-LABEL: func.func @limbs(
// NARROW-SAME:    attributes {memory.arena = 256 : i64}
// NARROW:         %t = fusion.region({{.*}}) attributes {offsets = [128 : i64]} {
func.func @limbs(%x : !one2) -> !one2 {
  %s = fusion.region(%a = %x : !one2) -> (!one2) {
    %n = rns.set_representative %a : !one2 -> !one2
    fusion.yield %n : !one2
  }
  %t = fusion.region(%a = %s : !one2) -> (!one2) {
    %n = rns.set_representative %a : !one2 -> !one2
    fusion.yield %n : !one2
  }
  %u = fusion.region(%a = %t : !one2) -> (!one2) {
    %n = rns.set_representative %a : !one2 -> !one2
    fusion.yield %n : !one2
  }
  return %u : !one2
}
}
