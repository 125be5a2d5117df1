// RUN: not fhelium-opt %s --split-input-file -p track-montgomery 2>&1 | filecheck %s

!m = !rns.poly<64, q 0:1, evaluation(bit_reversed), mont64(e = 0, below = 1)>
module attributes {ckks.params = #ckks.params<ring_degree = 64, q = [1125899906839937, 1099511623297], p = [1125899906840833], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<fp64>} {
func.func @f() {
  // CHECK: track_montgomery_floats_errors.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: track-montgomery: {{.*}}
  %x = "test.op"() : () -> !m
  return
}
}
// CHECK-NOT: error:
