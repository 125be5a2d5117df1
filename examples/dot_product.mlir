// Dot product of two encrypted vectors of 4096 numbers, by rotate-and-add.
//
// Twelve rotations by 1, 2, 4, ..., 2048 add up all slots, so that every slot of the result holds the
// sum of x[i] * y[i]. Levels and scales are left to the compiler.
//
//   fhelium-run examples/dot_product.mlir

module attributes {ckks.params = #ckks.params<
  ring_degree = 8192, q = [1152921504606748673, 1099511480321], p = [1152921504606830593],
  digits = 2, scale = 2**40, secret = ternary>} {

func.func @dot_product(%x : !ckks.ciphertext, %y : !ckks.ciphertext) -> !ckks.ciphertext {
  %xy = ckks.mul %x, %y : !ckks.ciphertext
  %relinearized = ckks.relinearize %xy : !ckks.ciphertext
  %sum0 = ckks.rescale %relinearized : !ckks.ciphertext
  %turned0 = ckks.rotate %sum0 {steps = 1} : !ckks.ciphertext
  %sum1 = ckks.add %sum0, %turned0 : !ckks.ciphertext
  %turned1 = ckks.rotate %sum1 {steps = 2} : !ckks.ciphertext
  %sum2 = ckks.add %sum1, %turned1 : !ckks.ciphertext
  %turned2 = ckks.rotate %sum2 {steps = 4} : !ckks.ciphertext
  %sum3 = ckks.add %sum2, %turned2 : !ckks.ciphertext
  %turned3 = ckks.rotate %sum3 {steps = 8} : !ckks.ciphertext
  %sum4 = ckks.add %sum3, %turned3 : !ckks.ciphertext
  %turned4 = ckks.rotate %sum4 {steps = 16} : !ckks.ciphertext
  %sum5 = ckks.add %sum4, %turned4 : !ckks.ciphertext
  %turned5 = ckks.rotate %sum5 {steps = 32} : !ckks.ciphertext
  %sum6 = ckks.add %sum5, %turned5 : !ckks.ciphertext
  %turned6 = ckks.rotate %sum6 {steps = 64} : !ckks.ciphertext
  %sum7 = ckks.add %sum6, %turned6 : !ckks.ciphertext
  %turned7 = ckks.rotate %sum7 {steps = 128} : !ckks.ciphertext
  %sum8 = ckks.add %sum7, %turned7 : !ckks.ciphertext
  %turned8 = ckks.rotate %sum8 {steps = 256} : !ckks.ciphertext
  %sum9 = ckks.add %sum8, %turned8 : !ckks.ciphertext
  %turned9 = ckks.rotate %sum9 {steps = 512} : !ckks.ciphertext
  %sum10 = ckks.add %sum9, %turned9 : !ckks.ciphertext
  %turned10 = ckks.rotate %sum10 {steps = 1024} : !ckks.ciphertext
  %sum11 = ckks.add %sum10, %turned10 : !ckks.ciphertext
  %turned11 = ckks.rotate %sum11 {steps = 2048} : !ckks.ciphertext
  %sum12 = ckks.add %sum11, %turned11 : !ckks.ciphertext
  return %sum12 : !ckks.ciphertext
}

}
