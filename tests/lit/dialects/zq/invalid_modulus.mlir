// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

// The arithmetic has a name that is known.
// CHECK: invalid_modulus.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: {{.*}}unknown arithmetic 'barrett', expected one of mont32, smont32, fp64, mont64
kernel.func @k(%q : i64) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : i64 -> !zq.modulus<barrett>
  kernel.return
}

// -----

// The word belongs to the arithmetic.
// CHECK: invalid_modulus.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: {{.*}}mont32 works on i32, found i64
kernel.func @k(%q : i64) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : i64 -> !zq.modulus<mont32>
  kernel.return
}
