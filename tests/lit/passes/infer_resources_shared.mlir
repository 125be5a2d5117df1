// RUN: fhelium-opt %s -p infer-resources --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err
// RUN: fhelium-opt %s -p infer-resources > %t.once && fhelium-opt %t.once -p infer-resources > %t.twice && diff %t.once %t.twice

!high = !rns.poly<16, q 1:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!high2 = !rns.poly<16, q 1:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297, 1099511627873], p = [1152921504606845473], digits = 3, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {

// A row table holds the number of the prime, then the rows that are read and written. Equal tables are one resource,
// whatever the function; there is one table of moduli: q, its inverse, R and R^2 for each of four primes.
// CHECK:      resource.declare @rows_0 "rows" {values = dense<[[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x16xi32>} : memref<2x16xi32>
// CHECK-NEXT: resource.declare @moduli_0 "moduli" : memref<4x4xi64>
// CHECK-NEXT: resource.declare @rows_1 "rows" {values = dense<[[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x16xi32>} : memref<2x16xi32>
// CHECK-NEXT: resource.declare @rows_2 "rows" {values = dense<[[1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<1x16xi32>} : memref<1x16xi32>
// CHECK-NOT:  resource.declare

// CHECK-LABEL: func.func @first(
// CHECK-NEXT:    fusion.region({{.*}}) -> ({{.*}}) attributes {resources = [@rows_0, @moduli_0]} {
// CHECK:         fusion.region({{.*}}) -> ({{.*}}) attributes {resources = [@rows_1, @moduli_0]} {
// REMARKS:      .mlir:[[# @LINE + 5]]:8: remark: [infer-resources] applied: 'resource.declare': @rows_0 needs 128 bytes
// REMARKS-NEXT: .mlir:[[# @LINE + 4]]:8: remark: [infer-resources] applied: 'resource.declare': @moduli_0 needs 128 bytes
// REMARKS-NEXT: .mlir:[[# @LINE + 7]]:8: remark: [infer-resources] applied: 'resource.declare': @rows_1 needs 128 bytes
// REMARKS-NEXT: .mlir:[[# @LINE + 22]]:8: remark: [infer-resources] applied: 'resource.declare': @rows_2 needs 64 bytes
func.func @first(%x : !e, %y : !e) -> (!e2, !e2) {
  %r = fusion.region(%a = %x : !e, %b = %y : !e) -> (!e2) {
    %s = rns.add %a, %b : !e
    fusion.yield %s : !e2
  }
  %t = fusion.region(%a = %y : !e) -> (!e2) {
    %s = rns.negate %a : !e
    fusion.yield %s : !e2
  }
  return %r, %t : !e2, !e2
}

// The rows of another basis are another table: here row 1 of the operand and of no other prime.
// CHECK-LABEL: func.func @second(
// CHECK-NEXT:    fusion.region({{.*}}) -> ({{.*}}) attributes {resources = [@rows_0, @moduli_0]} {
// CHECK:         fusion.region({{.*}}) -> ({{.*}}) attributes {resources = [@rows_2, @moduli_0]} {
func.func @second(%x : !e, %y : !e) -> (!e2, !high2) {
  %r = fusion.region(%a = %x : !e, %b = %y : !e) -> (!e2) {
    %s = rns.sub %a, %b : !e
    fusion.yield %s : !e2
  }
  %t = fusion.region(%a = %y : !e) -> (!high2) {
    %v = rns.restrict %a : !e -> !high
    %s = rns.negate %v : !high
    fusion.yield %s : !high2
  }
  return %r, %t : !e2, !high2
}
}
