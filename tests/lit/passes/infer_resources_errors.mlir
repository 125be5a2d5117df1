// RUN: not fhelium-opt %s -p infer-resources --split-input-file > %t.out 2> %t.err
// RUN: filecheck %s < %t.err

// CHECK: .mlir:[[# @LINE + 3]]:8: error: infer-resources: resource @missing is not declared
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {
func.func @undeclared() -> !rns.poly<16, q 0:2, evaluation(bit_reversed)> {
  %r = resource.ref @missing : !rns.poly<16, q 0:2, evaluation(bit_reversed)>
  return %r : !rns.poly<16, q 0:2, evaluation(bit_reversed)>
}
}
// -----
// CHECK: .mlir:[[# @LINE + 3]]:8: error: infer-resources: the module has no arithmetic; run select-arithmetic first
resource.declare @key "plaintext" {values = dense<1.0> : tensor<1xf64>, level = 1 : i64, scale = "2/1"}
func.func @arithmetic() -> !rns.poly<16, q 0:2, evaluation(bit_reversed)> {
  %r = resource.ref @key : !rns.poly<16, q 0:2, evaluation(bit_reversed)>
  return %r : !rns.poly<16, q 0:2, evaluation(bit_reversed)>
}
// -----
// CHECK: error: infer-resources: the module has no `ckks.params` attribute
!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
func.func @parameters(%x : !e) -> !e {
  %r = fusion.region(%a = %x : !e) -> (!e) {
    fusion.yield %a : !e
  }
  return %r : !e
}
// -----
// CHECK: .mlir:[[# @LINE + 4]]:8: error: infer-resources: two transforms need two regions
!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297, 1099511627873], p = [1152921504606845473], digits = 3, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {
func.func @two(%x : !e) -> !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 4)> {
  %r = fusion.region(%a = %x : !e) -> (!rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 4)>) {
    %i = ntt.inverse %a {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 0>} : !e
    %f = ntt.forward %i {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 2)>
    fusion.yield %f : !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 4)>
  }
  return %r : !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 4)>
}
}
