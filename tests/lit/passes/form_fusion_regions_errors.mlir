// RUN: not fhelium-opt %s -p form-fusion-regions --split-input-file > %t.out 2> %t.err
// RUN: filecheck %s < %t.err

// CHECK: .mlir:[[# @LINE + 3]]:8: error: form-fusion-regions: rns.add has no region: the representatives are undecided; run track-montgomery first
!e = !rns.poly<16, q 0:2, evaluation(bit_reversed)>
func.func @undecided(%x : !e) -> !e {
  %a = rns.add %x, %x : !e
  return %a : !e
}
// -----
// CHECK: .mlir:[[# @LINE + 3]]:8: error: form-fusion-regions: rns.negate has no region: the representatives are undecided; run track-montgomery first
!open = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = ?)>
func.func @no_interval(%x : !open) -> !open {
  %a = rns.negate %x : !open
  return %a : !open
}
// -----
// CHECK: .mlir:[[# @LINE + 4]]:8: error: form-fusion-regions: ntt.inverse has no region: the transform has no contract; run select-ntt-schedules first
!m = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!c = !rns.poly<16, q 0:2, coefficient, mont64(e = ?, below = ?)>
func.func @contract(%x : !m) -> !c {
  %a = ntt.inverse %x : !m
  return %a : !c
}
