// RUN: not fhelium-opt %s --split-input-file -p track-montgomery 2>&1 | filecheck %s

!m = !rns.poly<64, q 0:1, evaluation(bit_reversed), mont64(e = 0, below = 1)>
module attributes {ckks.params = #ckks.params<ring_degree = 64, q = [1125899906839937, 1099511623297], p = [1125899906840833], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<fp64>} {
// CHECK: error: {{.*}}%x is stored for mont64, the module's arithmetic is fp64
func.func @f(%x : !m) -> !m {
  return %x : !m
}
}

// -----

!f = !rns.poly<64, q 0:1, evaluation(bit_reversed)>
!g = !rns.poly<64, q 0:1, evaluation(bit_reversed), fp64(e = 0, below = 1)>
module attributes {ckks.params = #ckks.params<ring_degree = 64, q = [1125899906839937, 1099511623297], p = [1125899906840833], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<fp64>} {
func.func @f(%x : !f) {
  // CHECK: track_montgomery_floats_errors.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: track-montgomery: %y is said to be below 1q, but only 2q follows
  %y = rns.mul_constant %x {constant = #rns.constant<inverse p 0:1>} : !f -> !g
  return
}
}

// -----

!f = !rns.poly<64, q 0:1, evaluation(bit_reversed)>
!m = !rns.poly<64, q 0:1, evaluation(bit_reversed), mont64(e = 0, below = 1)>
module attributes {ckks.params = #ckks.params<ring_degree = 64, q = [1125899906839937, 1099511623297], p = [1125899906840833], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<fp64>} {
func.func @f(%x : !f) {
  // CHECK: track_montgomery_floats_errors.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: {{.*}}mont64
  %y = rns.set_representative %x : !f -> !m
  return
}
}
// CHECK-NOT: error:
