// check: pass track-montgomery
// pass track-montgomery: FheliumError: program.mlir:16:10: after pass 'track-montgomery': 'rns.negate': the result's below does not follow from the operands: expected !rns.poly<8, q 0:2, components = 2, evaluation(bit_reversed), fp64(e = 0, below = 5)>, found !rns.poly<8, q 0:2, components = 2, evaluation(bit_reversed), fp64(e = 0, below = 4)>
// from: a/8
// Setting(device={'name': 'custom', 'arithmetics': ['mont32', 'fp64', 'mont64'], 'register_stages': 2, 'exchange': True, 'lanes': 4, 'rows': 1, 'warps': 1, 'launch_cost': 4096.0}, arithmetic='', start='top', bsgs='auto', rotation_keys=(), selection={})
// Effort(inputs='largest', targets=(), printed=frozenset({'merge-divisions', 'place-domains', 'form-fusion-regions', 'select-arithmetic', 'ckks-expand', 'convert-regions-to-kernels'}), longest=60, seed=350235837)
// again: python -m tests.fuzz_programs --only NAME
builtin.module attributes {ckks.params = #ckks.params<ring_degree = 8, q = [4398046510961, 137438953441], p = [8796093022033], digits = 2, scale = 2**37, secret = ternary, insecure>} {
  func.func @f(%x: !ckks.ciphertext, %y: !ckks.ciphertext {ckks.range = 1.000000e+00 : f64}, %p: !ckks.plaintext<level = ?, scale = ?>) -> (!ckks.ciphertext, !ckks.ciphertext, !ckks.ciphertext) {
    %v13 = ckks.negate %y : !ckks.ciphertext
    func.return %x, %v13, %y : !ckks.ciphertext, !ckks.ciphertext, !ckks.ciphertext
  }
}
