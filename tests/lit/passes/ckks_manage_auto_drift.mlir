// RUN: fhelium-opt %s -p ckks-manage 2>&1 | filecheck %s

// q_3 to q_1 are 2^40, the default scale is 2^39: S_2 is half of it, S_1 an eighth, S_0 2^-7 of it.
module attributes {ckks.params = #ckks.params<
    ring_degree = 8192, q = [1125899906629633, 1099510890497, 1099511480321, 1099511922689],
    p = [1125899906826241], digits = 4, scale = 2**39, secret = ternary, insecure>} {
// CHECK: ckks_manage_auto_drift.mlir:[[# @LINE + 1]]:1: warning: [ckks-manage] 'func.func': the scale of level 1 is 2^36.0, far from the default 2^39: choose primes that follow the scale, see select-parameters
func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %a = ckks.mul %x, %x : !ckks.ciphertext
  return %a : !ckks.ciphertext
}
}
