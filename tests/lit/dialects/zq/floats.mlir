// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// On doubles differences have no offset, and reductions end at 1.
// CHECK-LABEL: kernel.func @k(%q: f64, %i: f64, %a: f64, %b: f64)
// CHECK-NEXT: {{^}}    %m = zq.modulus %q, %i : f64 -> !zq.modulus<fp64>{{$}}
// CHECK-NEXT: {{^}}    %s = zq.add %a, %b mod %m : f64, !zq.modulus<fp64>{{$}}
// CHECK-NEXT: {{^}}    %d = zq.sub %s, %b mod %m offset 0 : f64, !zq.modulus<fp64>{{$}}
// CHECK-NEXT: {{^}}    %p = zq.mul %d, %b mod %m : f64, !zq.modulus<fp64>{{$}}
// CHECK-NEXT: {{^}}    %r = zq.reduce %p mod %m from 2 to 1 : f64, !zq.modulus<fp64>{{$}}
kernel.func @k(%q : f64, %i : f64, %a : f64, %b : f64) lanes [1] grid 1 {
  %m = zq.modulus %q, %i : f64 -> !zq.modulus<fp64>
  %s = zq.add %a, %b mod %m : f64, !zq.modulus<fp64>
  %d = zq.sub %s, %b mod %m offset 0 : f64, !zq.modulus<fp64>
  %p = zq.mul %d, %b mod %m : f64, !zq.modulus<fp64>
  %r = zq.reduce %p mod %m from 2 to 1 : f64, !zq.modulus<fp64>
  kernel.return
}
