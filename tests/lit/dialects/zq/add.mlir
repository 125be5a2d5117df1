// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: kernel.func @k
// CHECK: {{^}}    %r = zq.add %a, %b mod %m : i64, !zq.modulus<mont64>{{$}}
// GENERIC: %r = "zq.add"(%a, %b, %m) : (i64, i64, !zq.modulus<mont64>) -> i64
kernel.func @k(%q : i64, %a : i64, %b : i64) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : i64 -> !zq.modulus<mont64>
  %r = zq.add %a, %b mod %m : i64, !zq.modulus<mont64>
  kernel.return
}
