// RUN: not fhelium-opt %s --split-input-file -p track-montgomery > %t.out 2> %t.err
// RUN: filecheck %s < %t.err

!e = !rns.poly<64, q 0:2, evaluation(bit_reversed)>
!m = !rns.poly<64, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
module attributes {ckks.params = #ckks.params<ring_degree = 64, q = [1152921504606844289, 1125899906839937], p = [1152921504606844417], digits = 2, scale = 2**45, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mixed64>} {
// CHECK: track_montgomery_mixed_errors.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: %x is stored for mont64, the module's arithmetic is mixed64
func.func @f(%x : !m) -> !m {
  return %x : !m
}
}

// -----

// Each group has its own interval.
!a = !rns.poly<64, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1) fp64(e = 0, below = 2)>
!w = !rns.poly<64, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2) fp64(e = 0, below = 3)>
!i = !rns.poly<64, q 0:2, evaluation(bit_reversed), int64(e = 0, below = 1)>
module attributes {ckks.params = #ckks.params<ring_degree = 64, q = [1152921504606844289, 1125899906839937], p = [1152921504606844417], digits = 2, scale = 2**45, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mixed64>} {
func.func @f(%x : !i) -> !i {
  %a = rns.set_representative %x : !i -> !rns.poly<64, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = ?) fp64(e = 0, below = 1)>
  // CHECK: track_montgomery_mixed_errors.mlir:[[# @LINE - 1]]:{{[0-9]+}}: error: {{.*}}%a is said to be below 1q, but only 2q follows
  return %x : !i
}
}
// CHECK-NOT: error:
