// RUN: not fhelium-opt %s -p 'select-arithmetic{arithmetic=smont32}' 2>&1 | filecheck %s

// CHECK: error: select-arithmetic: smont32 admits primes below 2^30, q0 = 1125899906839937 does not fit
module attributes {ckks.params = #ckks.params<ring_degree = 64, q = [1125899906839937], p = [1125899906840833], digits = 1, scale = 2**40, secret = ternary, insecure>} {
}
// CHECK-NOT: error:
