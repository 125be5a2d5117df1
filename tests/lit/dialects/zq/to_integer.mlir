// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: kernel.func @k
// CHECK: {{^}}    %r = zq.to_integer %a mod %m : !zq.modulus<fp64>{{$}}
// GENERIC: %r = "zq.to_integer"(%a, %m) : (f64, !zq.modulus<fp64>) -> i64
kernel.func @k(%q : f64, %a : f64) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : f64 -> !zq.modulus<fp64>
  %r = zq.to_integer %a mod %m : !zq.modulus<fp64>
  kernel.return
}
