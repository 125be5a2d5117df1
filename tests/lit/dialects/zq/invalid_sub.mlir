// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

// Without a multiple of q the difference could be negative.
// CHECK: invalid_sub.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: 'zq.sub': offset must be at least 1
kernel.func @k(%q : i64, %a : i64, %b : i64) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : i64 -> !zq.modulus<mont64>
  %r = zq.sub %a, %b mod %m offset 0 : i64, !zq.modulus<mont64>
  kernel.return
}
