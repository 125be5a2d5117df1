// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

// Words of smont32 have a sign.
// CHECK: invalid_signed.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: 'zq.sub': words of smont32 have a sign, their offset is 0
kernel.func @k(%q : i32, %a : i32) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : i32 -> !zq.modulus<smont32>
  %r = zq.sub %a, %a mod %m offset 1 : i32, !zq.modulus<smont32>
  kernel.return
}

// -----

// CHECK: invalid_signed.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: {{.*}}smont32 works on i32, found i64
kernel.func @k(%q : i64) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : i64 -> !zq.modulus<smont32>
  kernel.return
}

// -----

// Factors with a quotient are unsigned.
// CHECK: invalid_signed.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: 'zq.mul_shoup': works on unsigned words, those of smont32 have a sign
kernel.func @k(%q : i32, %a : i32) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : i32 -> !zq.modulus<smont32>
  %r = zq.mul_shoup %a, %a, %a mod %m : i32, !zq.modulus<smont32>
  kernel.return
}

// -----

// CHECK: invalid_signed.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: 'zq.canonical': works on smont32, found mont32
kernel.func @k(%q : i32, %a : i32) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : i32 -> !zq.modulus<mont32>
  %r = zq.canonical %a mod %m from 2 : !zq.modulus<mont32>
  kernel.return
}

// -----

// CHECK: invalid_signed.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: 'zq.canonical': needs from of at least 1
kernel.func @k(%q : i32, %a : i32) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : i32 -> !zq.modulus<smont32>
  %r = zq.canonical %a mod %m from 0 : !zq.modulus<smont32>
  kernel.return
}

// -----

// CHECK: invalid_signed.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: 'zq.reduce': needs 1 <= to <= from
kernel.func @k(%q : i32, %a : i32) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : i32 -> !zq.modulus<smont32>
  %r = zq.reduce %a mod %m from 2 to 4 : i32, !zq.modulus<smont32>
  kernel.return
}
// CHECK-NOT: error:
