// RUN: not fhelium-opt %s --split-input-file -p 'select-arithmetic{arithmetic=fp64}' 2>&1 | filecheck %s

// The first prime of 2^50 or more.
// CHECK: select_arithmetic_floats_errors.mlir:[[# @LINE + 1]]:1: error: select-arithmetic: fp64 admits primes below 2^50, p0 = 1125899906842769 does not fit
module attributes {ckks.params = #ckks.params<ring_degree = 8, q = [1125899906840833], p = [1125899906842769], digits = 1, scale = 2**40, secret = ternary, insecure>} {
}

// -----

// CHECK: select_arithmetic_floats_errors.mlir:[[# @LINE + 1]]:1: error: select-arithmetic: the module states mont64, the option fp64
module attributes {ckks.params = #ckks.params<ring_degree = 8, q = [12289], p = [40961], digits = 1, scale = 2**10, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {
}
// CHECK-NOT: error:
