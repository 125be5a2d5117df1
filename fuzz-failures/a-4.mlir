// check: target cpu
// target cpu: FheliumError: LLVM refuses the generated code: Instruction does not dominate all uses!
//   %v523 = lshr i64 %lane322, 3
//   %v524 = add i64 %v522, %v523
// Instruction does not dominate all uses!
//   %v523 = lshr i64 %lane322, 3
//   %v644 = add i64 %v643, %v523
// from: a/18
// Setting(device='gpu', arithmetic='mont64', start='needed', bsgs='auto', rotation_keys=(), selection={})
// Effort(inputs='largest', targets=('interpret', 'cpu'), printed=frozenset({'merge-divisions', 'select-ntt-schedules'}), longest=60, seed=982826818)
// again: python -m tests.fuzz_programs --only NAME
builtin.module attributes {ckks.params = #ckks.params<ring_degree = 4096, q = [536616961, 2236417, 2056193], p = [536813569, 536690689, 536641537], digits = 1, scale = 2**21, secret = ternary, insecure>} {
  func.func @f(%x: !ckks.ciphertext, %y: !ckks.ciphertext {ckks.range = 1.000000e+00 : f64}, %z: !ckks.ciphertext, %p: !ckks.plaintext<level = ?, scale = ?>) -> (!ckks.ciphertext, !ckks.ciphertext, !ckks.ciphertext) {
    %v4 = ckks.polynomial %y {coefficients = dense<[0.000000e+00, 1.915000e-01, 1.250000e-01]> : tensor<3xf64>} : !ckks.ciphertext
    func.return %v4, %z, %x : !ckks.ciphertext, !ckks.ciphertext, !ckks.ciphertext
  }
}
