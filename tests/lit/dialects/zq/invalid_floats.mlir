// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

// Words of fp64 have a sign.
// CHECK: invalid_floats.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: 'zq.sub': words of fp64 have a sign, their offset is 0
kernel.func @k(%q : f64, %a : f64) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : f64 -> !zq.modulus<fp64>
  %r = zq.sub %a, %a mod %m offset 1 : f64, !zq.modulus<fp64>
  kernel.return
}

// -----

// A reduction of doubles centres them.
// CHECK: invalid_floats.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: 'zq.reduce': words of fp64 are reduced to 1
kernel.func @k(%q : f64, %a : f64) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : f64 -> !zq.modulus<fp64>
  %r = zq.reduce %a mod %m from 4 to 2 : f64, !zq.modulus<fp64>
  kernel.return
}

// -----

// The words are doubles.
// CHECK: invalid_floats.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: {{.*}}fp64 works on f64, found i64
kernel.func @k(%q : i64) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : i64 -> !zq.modulus<fp64>
  kernel.return
}

// -----

// Montgomery's words are none.
// CHECK: invalid_floats.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: {{.*}}mont64 works on i64, found f64
kernel.func @k(%q : i64, %a : f64) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : i64 -> !zq.modulus<mont64>
  %r = zq.add %a, %a mod %m : f64, !zq.modulus<mont64>
  kernel.return
}

// -----

// CHECK: invalid_floats.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: {{.*}}mont64 works on i64, found f64
kernel.func @k(%q : i64, %a : i64) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : i64 -> !zq.modulus<mont64>
  %r = zq.to_float %a mod %m : !zq.modulus<mont64>
  kernel.return
}

// -----

// CHECK: invalid_floats.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: {{.*}}mont64 works on i64, found f64
kernel.func @k(%q : i64, %a : f64) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : i64 -> !zq.modulus<mont64>
  %r = zq.to_integer %a mod %m : !zq.modulus<mont64>
  kernel.return
}
// CHECK-NOT: error:
