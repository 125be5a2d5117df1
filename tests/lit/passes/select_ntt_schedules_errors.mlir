// RUN: not fhelium-opt %s --split-input-file -p select-ntt-schedules 2> %t.err
// RUN: filecheck %s < %t.err

module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)> {
  // CHECK: select_ntt_schedules_errors.mlir:[[# @LINE + 1]]:8: error: select-ntt-schedules: the contract is not achievable: ntt.forward takes words below 4q at most, not 5q
  %c = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 5, output = 4, exponent = 0>} : !rns.poly<8192, q 0:2, coefficient>
  return %c : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}
}

// -----

module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)> {
  // CHECK: select_ntt_schedules_errors.mlir:[[# @LINE + 1]]:8: error: select-ntt-schedules: the contract is not achievable: ntt.forward leaves words below 4q, not 2q
  %c = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 2, exponent = 0>} : !rns.poly<8192, q 0:2, coefficient>
  return %c : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}
}

// -----

module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)> {
  // CHECK: select_ntt_schedules_errors.mlir:[[# @LINE + 1]]:8: error: select-ntt-schedules: the contract is not achievable: ntt.forward has words of 16q at most, not 17q
  %c = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 17, exponent = 0>} : !rns.poly<8192, q 0:2, coefficient>
  return %c : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}
}

// -----

module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)> {
  // CHECK: select_ntt_schedules_errors.mlir:[[# @LINE + 1]]:8: error: select-ntt-schedules: the contract is not achievable: ntt.forward cannot change the exponent by 1
  %c = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 1>} : !rns.poly<8192, q 0:2, coefficient>
  return %c : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}
}

// -----

module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, coefficient> {
  // CHECK: select_ntt_schedules_errors.mlir:[[# @LINE + 1]]:8: error: select-ntt-schedules: the contract is not achievable: ntt.inverse takes words below 2q at most, not 4q
  %c = ntt.inverse %x {contract = #ntt.contract<bit_reversed, input = 4, output = 2, exponent = 0>} : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  return %c : !rns.poly<8192, q 0:2, coefficient>
}
}

// -----

module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, coefficient> {
  // CHECK: select_ntt_schedules_errors.mlir:[[# @LINE + 1]]:8: error: select-ntt-schedules: the contract is not achievable: ntt.inverse leaves words below 2q, not 1q
  %c = ntt.inverse %x {contract = #ntt.contract<bit_reversed, input = 2, output = 1, exponent = 0>} : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  return %c : !rns.poly<8192, q 0:2, coefficient>
}
}

// -----

module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, coefficient> {
  // CHECK: select_ntt_schedules_errors.mlir:[[# @LINE + 1]]:8: error: select-ntt-schedules: the contract is not achievable: ntt.inverse cannot change the exponent by 2
  %c = ntt.inverse %x {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 2>} : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  return %c : !rns.poly<8192, q 0:2, coefficient>
}
}

// -----

// CHECK: select_ntt_schedules_errors.mlir:[[# @LINE + 1]]:1: error: select-ntt-schedules: the module has no attribute `rns.arithmetic`; run select-arithmetic first
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>} {
}

// CHECK-NOT: error:
