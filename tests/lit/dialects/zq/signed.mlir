// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// Signed words: differences have no offset, and a reduction may end anywhere.
// CHECK-LABEL: kernel.func @k(%q: i32, %i: i32, %a: i32, %b: i32)
// CHECK-NEXT: {{^}}    %m = zq.modulus %q, %i : i32 -> !zq.modulus<smont32>{{$}}
// CHECK-NEXT: {{^}}    %s = zq.add %a, %b mod %m : i32, !zq.modulus<smont32>{{$}}
// CHECK-NEXT: {{^}}    %d = zq.sub %s, %b mod %m offset 0 : i32, !zq.modulus<smont32>{{$}}
// CHECK-NEXT: {{^}}    %p = zq.mul %d, %b mod %m : i32, !zq.modulus<smont32>{{$}}
// CHECK-NEXT: {{^}}    %r = zq.reduce %p mod %m from 16 to 8 : i32, !zq.modulus<smont32>{{$}}
// CHECK-NEXT: {{^}}    %c = zq.reduce %r mod %m from 8 to 1 : i32, !zq.modulus<smont32>{{$}}
kernel.func @k(%q : i32, %i : i32, %a : i32, %b : i32) lanes [1] grid 1 {
  %m = zq.modulus %q, %i : i32 -> !zq.modulus<smont32>
  %s = zq.add %a, %b mod %m : i32, !zq.modulus<smont32>
  %d = zq.sub %s, %b mod %m offset 0 : i32, !zq.modulus<smont32>
  %p = zq.mul %d, %b mod %m : i32, !zq.modulus<smont32>
  %r = zq.reduce %p mod %m from 16 to 8 : i32, !zq.modulus<smont32>
  %c = zq.reduce %r mod %m from 8 to 1 : i32, !zq.modulus<smont32>
  kernel.return
}
