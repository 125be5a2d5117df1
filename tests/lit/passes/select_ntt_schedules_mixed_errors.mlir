// RUN: not fhelium-opt %s --split-input-file -p select-ntt-schedules > %t.out 2> %t.err
// RUN: filecheck %s < %t.err

!z = !rns.poly<64, q 0:2, evaluation(bit_reversed)>
module attributes {ckks.params = #ckks.params<ring_degree = 64, q = [1152921504606844289, 1125899906839937], p = [1152921504606844417], digits = 2, scale = 2**45, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mixed64>} {
func.func @f(%x : !z) {
  // CHECK: select_ntt_schedules_mixed_errors.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: select-ntt-schedules: the contract is not achievable: ntt.inverse cannot change the exponent by 1
  %c = ntt.inverse %x {float_contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 1>} : !z
  return
}
}

// -----

!z = !rns.poly<64, q 0:2, evaluation(bit_reversed)>
module attributes {ckks.params = #ckks.params<ring_degree = 64, q = [1152921504606844289, 1125899906839937], p = [1152921504606844417], digits = 2, scale = 2**45, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mixed64>} {
func.func @f(%x : !z) {
  // CHECK: select_ntt_schedules_mixed_errors.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: select-ntt-schedules: the contract is not achievable: ntt.inverse takes words below 2q at most, not 4q
  %c = ntt.inverse %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !z
  return
}
}
// CHECK-NOT: error:
