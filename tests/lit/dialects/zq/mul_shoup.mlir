// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: kernel.func @k
// CHECK: {{^}}    %r = zq.mul_shoup %a, %w, %quotient mod %m : i32, !zq.modulus<mont32>{{$}}
// GENERIC: %r = "zq.mul_shoup"(%a, %w, %quotient, %m) : (i32, i32, i32, !zq.modulus<mont32>) -> i32
kernel.func @k(%q : i32, %a : i32, %w : i32, %quotient : i32) lanes [1] grid 1 {
  %m = zq.modulus %q, %q : i32 -> !zq.modulus<mont32>
  %r = zq.mul_shoup %a, %w, %quotient mod %m : i32, !zq.modulus<mont32>
  kernel.return
}
