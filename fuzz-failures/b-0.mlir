// check: pass track-montgomery
// pass track-montgomery: FheliumError: program.mlir:10:11: after pass 'track-montgomery': 'rns.negate': the result's below does not follow from the operands: expected !rns.poly<128, q 0:1, components = 2, evaluation(bit_reversed), fp64(e = 0, below = 2)>, found !rns.poly<128, q 0:1, components = 2, evaluation(bit_reversed), fp64(e = 0, below = 1)>
// from: b/7
// Setting(device='interpreter', arithmetic='fp64', start='top', bsgs='auto', rotation_keys=(), selection={})
// Effort(inputs='largest', targets=(), printed=frozenset({'infer-resources', 'plan-memory', 'merge-divisions', 'ckks-expand'}), longest=60, seed=116654210)
// again: python -m tests.fuzz_programs --only NAME
builtin.module attributes {ckks.params = #ckks.params<ring_degree = 128, q = [67106561], p = [134215681, 134212097], digits = 1, scale = 2**23, secret = ternary, insecure>} {
  func.func @f(%x: !ckks.ciphertext<level = 0, scale = 2**23> {ckks.range = 2.500000e-01 : f64}, %y: !ckks.ciphertext<level = 0, scale = 2**23> {ckks.range = 1.562500e-02 : f64}, %p: !ckks.plaintext<level = 0, scale = 2**23> {ckks.range = 2.500000e-01 : f64}, %r: !ckks.plaintext<level = 0, scale = 2**23>) -> (!ckks.ciphertext<level = 0, scale = 2**13 * 1025>, !ckks.ciphertext<level = 0, scale = 2**23>) {
    %k1 = arith.constant 2 : index
    %k2 = arith.constant 6 : index
    %v8 = scf.for %i4 = %k1 to %k2 step %k2 iter_args(%s5 = %y) -> (!ckks.ciphertext<level = 0, scale = 2**23>) {
      %v7 = ckks.negate %s5 : !ckks.ciphertext<level = 0, scale = 2**23>
      scf.yield %v7 : !ckks.ciphertext<level = 0, scale = 2**23>
    }
    %v20 = ckks.adopt_scale %y {tolerance = 1.464400e-03 : f64} : !ckks.ciphertext<level = 0, scale = 2**23> -> !ckks.ciphertext<level = 0, scale = 2**13 * 1025>
    func.return %v20, %v8 : !ckks.ciphertext<level = 0, scale = 2**13 * 1025>, !ckks.ciphertext<level = 0, scale = 2**23>
  }
}
