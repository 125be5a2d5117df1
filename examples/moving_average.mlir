// Moving average of an encrypted vector of 4096 numbers: y[i] = (x[i] + ... + x[i + 7]) / 8, indices modulo 4096.
// Written as a loop, which the compiler unrolls; the call is inlined, and the seven rotations of x share their
// decomposition. One level.
//
//   fhelium-run examples/moving_average.mlir

module attributes {ckks.params = #ckks.params<
  ring_degree = 8192, q = [1125899906629633, 1099511480321],
  p = [1125899906826241], digits = 2, scale = 2**40, secret = ternary>} {

func.func private @accumulate(%sum : !ckks.ciphertext, %x : !ckks.ciphertext, %steps : index) -> !ckks.ciphertext {
  %turned = ckks.rotate_dynamic %x, %steps : !ckks.ciphertext, index
  %next = ckks.add %sum, %turned : !ckks.ciphertext
  return %next : !ckks.ciphertext
}

func.func @moving_average(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %one = arith.constant 1 : index
  %width = arith.constant 8 : index
  %total = scf.for %k = %one to %width step %one iter_args(%sum = %x) -> (!ckks.ciphertext) {
    %next = func.call @accumulate(%sum, %x, %k) : (!ckks.ciphertext, !ckks.ciphertext, index) -> !ckks.ciphertext
    scf.yield %next : !ckks.ciphertext
  }
  %v = arith.constant dense<0.125> : tensor<1xf64>
  %eighth = ckks.encode %v : tensor<1xf64> -> !ckks.plaintext
  %y = ckks.mul_plain %total, %eighth : !ckks.ciphertext, !ckks.plaintext
  return %y : !ckks.ciphertext
}

}
