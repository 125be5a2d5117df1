// check: target cpu
// target cpu: FheliumError: result 0 has 96 wrong words of 96
// from: a/0
// Setting(device={'name': 'custom', 'arithmetics': ['mont32', 'fp64', 'mont64'], 'register_stages': 3, 'exchange': True, 'lanes': 64, 'rows': 4, 'warps': 1, 'launch_cost': 64.0}, arithmetic='', start='top', bsgs='2', rotation_keys=(), selection={})
// Effort(inputs='encrypted', targets=('interpret', 'cpu'), printed=frozenset({'hoist-rotations', 'ckks-check', 'plan-memory', 'convert-ckks-to-rns'}), longest=60, seed=292519462)
// again: python -m tests.fuzz_programs --only NAME
builtin.module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1073739937, 134218081, 134218433, 134217409], p = [1073741441, 1073740609], digits = 3, scale = 2**27, secret = ternary, insecure>} {
  func.func @f(%x: !ckks.ciphertext {ckks.range = 1.000000e+00 : f64, ckks.slots = 1 : i64}, %y: !ckks.ciphertext {ckks.range = 1.000000e+00 : f64}, %z: !ckks.ciphertext, %p: !ckks.plaintext<level = ?, scale = ?> {ckks.slots = 8 : i64}) -> (!ckks.ciphertext, !ckks.ciphertext, !ckks.ciphertext) {
    %k16 = arith.constant 5 : index
    %v15 = ckks.rotate_dynamic %y, %k16 : !ckks.ciphertext, index
    func.return %z, %v15, %v15 : !ckks.ciphertext, !ckks.ciphertext, !ckks.ciphertext
  }
}
