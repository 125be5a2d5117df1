// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: kernel.func @k
// CHECK-NEXT: %m = zq.modulus %q, %p : i32 -> !zq.modulus<mont32>
// CHECK-NEXT: %n = zq.modulus %r, %s : i64 -> !zq.modulus<mont64>
// GENERIC: %m = "zq.modulus"(%q, %p) : (i32, i32) -> !zq.modulus<mont32>
// GENERIC: %n = "zq.modulus"(%r, %s) : (i64, i64) -> !zq.modulus<mont64>
kernel.func @k(%q : i32, %p : i32, %r : i64, %s : i64) lanes [1] grid 1 {
  %m = zq.modulus %q, %p : i32 -> !zq.modulus<mont32>
  %n = zq.modulus %r, %s : i64 -> !zq.modulus<mont64>
  kernel.return
}
