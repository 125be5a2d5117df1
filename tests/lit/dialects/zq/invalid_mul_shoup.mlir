// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

// Doubles have products of their own.
// CHECK: invalid_mul_shoup.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: 'zq.mul_shoup': works on integers, words of fp64 are doubles
kernel.func @k(%q : f64, %a : f64) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : f64 -> !zq.modulus<fp64>
  %r = zq.mul_shoup %a, %a, %a mod %m : f64, !zq.modulus<fp64>
  kernel.return
}

// -----

// Words of another width.
// CHECK: invalid_mul_shoup.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: {{.*}}mont32 works on i32, found i64
kernel.func @k(%q : i32, %a : i64) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : i32 -> !zq.modulus<mont32>
  %r = zq.mul_shoup %a, %a, %a mod %m : i64, !zq.modulus<mont32>
  kernel.return
}
// CHECK-NOT: error:
