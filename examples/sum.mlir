// Sum of an encrypted vector of 4096 numbers: every slot of the result holds it. Twelve rotations, no level.
//
//   fhelium-run examples/sum.mlir

module attributes {ckks.params = #ckks.params<
  ring_degree = 8192, q = [1152921504606748673],
  p = [1152921504606830593], digits = 1, scale = 2**40, secret = ternary>} {

func.func @sum(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %y = ckks.sum_slots %x {count = 4096} : !ckks.ciphertext
  return %y : !ckks.ciphertext
}

}
