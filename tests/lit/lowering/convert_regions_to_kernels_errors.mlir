// RUN: not fhelium-opt %s -p convert-regions-to-kernels --split-input-file > %t.out 2> %t.err
// RUN: filecheck %s < %t.err

// Each missing step is named by the pass that takes it.
// CHECK: error: convert-regions-to-kernels: the module has no arithmetic; run select-arithmetic first
!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
func.func @arithmetic(%x : !e) -> !e2 {
  %r = fusion.region(%a = %x : !e) -> (!e2) {
    %n = rns.negate %a : !e
    fusion.yield %n : !e2
  }
  return %r : !e2
}
// -----
// CHECK: .mlir:[[# @LINE + 5]]:8: error: convert-regions-to-kernels: rns.negate is not inside a region; run form-fusion-regions first
!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {
func.func @regions(%x : !e) -> !e2 {
  %n = rns.negate %x : !e
  return %n : !e2
}
}
// -----
// CHECK: .mlir:[[# @LINE + 5]]:8: error: convert-regions-to-kernels: a region names no resources; run infer-resources first
!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {
func.func @resources(%x : !e) -> !e2 {
  %r = fusion.region(%a = %x : !e) -> (!e2) {
    %n = rns.negate %a : !e
    fusion.yield %n : !e2
  }
  return %r : !e2
}
}
// -----
// CHECK: .mlir:[[# @LINE + 6]]:8: error: convert-regions-to-kernels: resource @rows has no shape; run infer-resources first
!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {
resource.declare @rows "moduli"
func.func @shape(%x : !e) -> !e2 {
  %r = fusion.region(%a = %x : !e) -> (!e2) attributes {resources = [@rows, @rows]} {
    %n = rns.negate %a : !e
    fusion.yield %n : !e2
  }
  return %r : !e2
}
}
// -----
// CHECK: .mlir:[[# @LINE + 5]]:8: error: convert-regions-to-kernels: resource @rows is not declared
!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {
func.func @declared(%x : !e) -> !e2 {
  %r = fusion.region(%a = %x : !e) -> (!e2) attributes {resources = [@rows, @rows]} {
    %n = rns.negate %a : !e
    fusion.yield %n : !e2
  }
  return %r : !e2
}
}
// -----
// CHECK: .mlir:[[# @LINE + 7]]:8: error: convert-regions-to-kernels: a transform has no schedule; run tune-ntt-schedules first
!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
!c2 = !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 2)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {
resource.declare @t "moduli" : memref<4x4xi64>
func.func @schedule(%x : !e) -> !c2 {
  %r = fusion.region(%a = %x : !e) -> (!c2) attributes {resources = [@t, @t, @t, @t]} {
    %n = ntt.inverse %a {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 0>} : !e
    fusion.yield %n : !c2
  }
  return %r : !c2
}
}
// -----
// CHECK: .mlir:[[# @LINE + 5]]:8: error: convert-regions-to-kernels: the representatives are undecided; run track-montgomery first
!e = !rns.poly<16, q 0:2, evaluation(bit_reversed)>
!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {
func.func @representatives(%x : !e) -> !e2 {
  %r = fusion.region(%a = %x : !e) -> (!e2) {
    %n = rns.negate %a : !e
    fusion.yield %n : !e2
  }
  return %r : !e2
}
}
// -----
// CHECK: .mlir:[[# @LINE + 7]]:8: error: convert-regions-to-kernels: the transform has no contract; run select-ntt-schedules first
!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
!u = !rns.poly<16, q 0:2, coefficient, mont64(e = ?, below = ?)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {
resource.declare @t "moduli" : memref<4x4xi64>
func.func @contract(%x : !e) -> !u {
  %r = fusion.region(%a = %x : !e) -> (!u) attributes {resources = [@t, @t, @t, @t]} {
    %n = ntt.inverse %a : !e
    fusion.yield %n : !u
  }
  return %r : !u
}
}
// -----
// CHECK: .mlir:[[# @LINE + 6]]:8: error: convert-regions-to-kernels: the region reads 2 resources, it names 1; run infer-resources again
!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {
resource.declare @t "rows" {values = dense<[[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x16xi32>} : memref<2x16xi32>
func.func @count(%x : !e) -> !e2 {
  %r = fusion.region(%a = %x : !e) -> (!e2) attributes {resources = [@t]} {
    %n = rns.negate %a : !e
    fusion.yield %n : !e2
  }
  return %r : !e2
}
}
// -----
// CHECK: .mlir:[[# @LINE + 7]]:8: error: convert-regions-to-kernels: the region lies in an arena, but the function has no `memory.arena`
!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {
resource.declare @t "rows" {values = dense<[[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x16xi32>} : memref<2x16xi32>
resource.declare @m "moduli" : memref<4x4xi64>
func.func @arena(%x : !e) -> !e2 {
  %r = fusion.region(%a = %x : !e) -> (!e2) attributes {resources = [@t, @m], offsets = [0]} {
    %n = rns.negate %a : !e
    fusion.yield %n : !e2
  }
  return %r : !e2
}
}
