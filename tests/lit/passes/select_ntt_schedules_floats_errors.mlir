// RUN: not fhelium-opt %s --split-input-file -p select-ntt-schedules 2>&1 | filecheck %s

module attributes {ckks.params = #ckks.params<ring_degree = 64, q = [1125899906839937, 1099511623297], p = [1125899906840833], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<fp64>} {
func.func @f(%x : !rns.poly<64, q 0:2, coefficient>) {
  // CHECK: select_ntt_schedules_floats_errors.mlir:[[# @LINE + 1]]:8: error: select-ntt-schedules: the contract is not achievable: ntt.forward takes words below 2q at most, not 3q
  %c = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 3, output = 8, exponent = 0>} : !rns.poly<64, q 0:2, coefficient>
  return
}
}

// -----

module attributes {ckks.params = #ckks.params<ring_degree = 64, q = [1125899906839937, 1099511623297], p = [1125899906840833], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<fp64>} {
func.func @f(%x : !rns.poly<64, q 0:2, coefficient>) {
  // CHECK: select_ntt_schedules_floats_errors.mlir:[[# @LINE + 1]]:8: error: select-ntt-schedules: the contract is not achievable: ntt.forward leaves words below 8q, not 7q
  %c = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 2, output = 7, exponent = 0>} : !rns.poly<64, q 0:2, coefficient>
  return
}
}

// -----

module attributes {ckks.params = #ckks.params<ring_degree = 64, q = [1125899906839937, 1099511623297], p = [1125899906840833], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<fp64>} {
func.func @f(%x : !rns.poly<64, q 0:2, coefficient>) {
  // CHECK: select_ntt_schedules_floats_errors.mlir:[[# @LINE + 1]]:8: error: select-ntt-schedules: the contract is not achievable: ntt.forward has words of 8q at most, not 9q
  %c = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 2, output = 9, exponent = 0>} : !rns.poly<64, q 0:2, coefficient>
  return
}
}
// CHECK-NOT: error:
