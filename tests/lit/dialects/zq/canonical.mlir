// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: kernel.func @k
// CHECK: {{^}}    %r = zq.canonical %a mod %m from 4 : !zq.modulus<smont32>{{$}}
// GENERIC: %r = "zq.canonical"(%a, %m) <{from = 4 : i64}> : (i32, !zq.modulus<smont32>) -> i32
kernel.func @k(%q : i32, %a : i32) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : i32 -> !zq.modulus<smont32>
  %r = zq.canonical %a mod %m from 4 : !zq.modulus<smont32>
  kernel.return
}
