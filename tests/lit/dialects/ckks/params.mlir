// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// CHECK: ckks.params = #ckks.params<ring_degree = 8, q = [97, 113, 193], p = [257, 241], digits = 2, scale = 2**5, secret = ternary, insecure>
module attributes {ckks.params = #ckks.params<ring_degree = 8, q = [97, 113, 193],
    p = [257, 241], digits = 2, scale = 2**5, secret = ternary, insecure>} {
  // CHECK: ckks.params = #ckks.params<ring_degree = 8192, q = [1125899906629633], p = [1125899906826241], digits = 1, scale = 2**40, secret = ternary>
  module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1125899906629633],
      p = [1125899906826241], digits = 1, scale = 2 ** 40, secret = ternary>} {
  }
}
