// check: pass track-montgomery
// pass track-montgomery: FheliumError: program.mlir:6:9: after pass 'track-montgomery': 'rns.negate': the result's below does not follow from the operands: expected !rns.poly<64, q 0:2, components = 2, evaluation(bit_reversed), fp64(e = 0, below = 3)>, found !rns.poly<64, q 0:2, components = 2, evaluation(bit_reversed), fp64(e = 0, below = 2)>
// from: a/2
// Setting(device={'name': 'custom', 'arithmetics': ['mont32', 'fp64', 'mont64'], 'register_stages': 3, 'exchange': True, 'lanes': 64, 'rows': 1, 'warps': 1, 'launch_cost': 64.0}, arithmetic='fp64', start='top', bsgs='auto', rotation_keys=(), selection={})
// Effort(inputs='largest', targets=('interpret', 'cpu'), printed=frozenset({'merge-divisions'}), longest=60, seed=770401878)
// again: python -m tests.fuzz_programs --only NAME
builtin.module attributes {ckks.params = #ckks.params<ring_degree = 64, q = [1073738753, 536870657, 268432897], p = [1073741441, 1073739649], digits = 3, scale = 2**27, secret = ternary, insecure>} {
  func.func @f(%x: !ckks.ciphertext<level = 2, scale = 2**27> {ckks.range = 2.500000e-01 : f64}, %y: !ckks.ciphertext<level = 2, scale = 2**27> {ckks.range = 1.562500e-02 : f64}, %z: !ckks.ciphertext<level = 2, scale = 2**27>, %p: !ckks.plaintext<level = 2, scale = 2**27> {ckks.range = 5.000000e-01 : f64}) -> (!ckks.ciphertext<level = 0, scale = 2**54 / q1>, !ckks.ciphertext<level = 1, scale = 2**27>, !ckks.ciphertext<level = 1, scale = 2**44 * 1025, size = 3>) {
    %v2 = ckks.mod_switch %z {levels = 1 : i64} : !ckks.ciphertext<level = 2, scale = 2**27>
    %v3 = ckks.negate %v2 : !ckks.ciphertext<level = 1, scale = 2**27>
    %c6v = arith.constant dense<[1.250000e-01, -2.500000e-02, 1.210000e-01, 2.470000e-01]> : tensor<4xf64>
    %c6 = ckks.encode %c6v : tensor<4xf64> -> !ckks.plaintext<level = 1, scale = 2**27>
    %v7 = ckks.mul_plain %v3, %c6 : !ckks.ciphertext<level = 1, scale = 2**27>, !ckks.plaintext<level = 1, scale = 2**27>
    %v8 = ckks.adopt_scale %v3 {tolerance = 1.464400e-03 : f64} : !ckks.ciphertext<level = 1, scale = 2**27> -> !ckks.ciphertext<level = 1, scale = 2**17 * 1025>
    %v13 = ckks.rescale %v7 : !ckks.ciphertext<level = 1, scale = 2**54>
    %v19 = ckks.mul %v8, %v3 : !ckks.ciphertext<level = 1, scale = 2**17 * 1025>, !ckks.ciphertext<level = 1, scale = 2**27>
    func.return %v13, %v3, %v19 : !ckks.ciphertext<level = 0, scale = 2**54 / q1>, !ckks.ciphertext<level = 1, scale = 2**27>, !ckks.ciphertext<level = 1, scale = 2**44 * 1025, size = 3>
  }
}
