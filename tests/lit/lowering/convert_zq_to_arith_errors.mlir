// RUN: not fhelium-opt %s -p convert-zq-to-arith --split-input-file 2>&1 | filecheck %s

// Modular arithmetic belongs into kernels.
// CHECK: errors.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: {{.*}}'zq.modulus' is outside of a kernel.func
func.func @f() {
  %q = arith.constant 17 : i64
  %m = zq.modulus %q, %q : i64 -> !zq.modulus<mont64>
  return
}

// -----

// A modulus cannot come from elsewhere, since its words would not be known.
// CHECK: errors.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: {{.*}}the modulus of 'zq.add' must come from a zq.modulus of the same kernel
kernel.func @k(%m : !zq.modulus<mont64>, %a : i64) lanes [1] grid 1 {
  %s = zq.add %a, %a mod %m : i64, !zq.modulus<mont64>
  kernel.return
}
