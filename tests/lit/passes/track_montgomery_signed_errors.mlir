// RUN: not fhelium-opt %s -p track-montgomery 2>&1 | filecheck %s

// CHECK: error: %x is stored for mont32, the module's arithmetic is smont32
!m = !rns.poly<16, q 0:1, evaluation(bit_reversed), mont32(e = 0, below = 1)>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [268435009], p = [268435361], digits = 1, scale = 2**20, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<smont32>} {
func.func @f(%x : !m) -> !m {
  return %x : !m
}
}

// CHECK-NOT: error:
