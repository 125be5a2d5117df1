// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

// A sum of words of another width.
// CHECK: invalid_words.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: {{.*}}mont64 works on i64, found i32
kernel.func @k(%q : i64, %a : i64, %b : i64, %w : i32) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : i64 -> !zq.modulus<mont64>
  %r = zq.add %w, %w mod %m : i32, !zq.modulus<mont64>
  kernel.return
}

// -----

// A difference of words of another width.
// CHECK: invalid_words.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: {{.*}}mont64 works on i64, found i32
kernel.func @k(%q : i64, %a : i64, %b : i64, %w : i32) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : i64 -> !zq.modulus<mont64>
  %r = zq.sub %w, %w mod %m offset 1 : i32, !zq.modulus<mont64>
  kernel.return
}

// -----

// A product of words of another width.
// CHECK: invalid_words.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: {{.*}}mont64 works on i64, found i32
kernel.func @k(%q : i64, %a : i64, %b : i64, %w : i32) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : i64 -> !zq.modulus<mont64>
  %r = zq.mul %w, %w mod %m : i32, !zq.modulus<mont64>
  kernel.return
}

// -----

// A reduction of a word of another width.
// CHECK: invalid_words.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: {{.*}}mont64 works on i64, found i32
kernel.func @k(%q : i64, %a : i64, %b : i64, %w : i32) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : i64 -> !zq.modulus<mont64>
  %r = zq.reduce %w mod %m from 2 to 1 : i32, !zq.modulus<mont64>
  kernel.return
}
