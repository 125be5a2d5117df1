// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

// A reduction does not raise the bound.
// CHECK: invalid_reduce.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: 'zq.reduce': needs 1 <= to <= from
kernel.func @k(%q : i64, %a : i64, %b : i64) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : i64 -> !zq.modulus<mont64>
  %r = zq.reduce %a mod %m from 1 to 2 : i64, !zq.modulus<mont64>
  kernel.return
}

// -----

// No word is below 0.
// CHECK: invalid_reduce.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: 'zq.reduce': needs 1 <= to <= from
kernel.func @k(%q : i64, %a : i64, %b : i64) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : i64 -> !zq.modulus<mont64>
  %r = zq.reduce %a mod %m from 1 to 0 : i64, !zq.modulus<mont64>
  kernel.return
}
