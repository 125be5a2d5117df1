// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: kernel.func @k
// CHECK: {{^}}    %a, %b = kernel.exchange %i, %i axis 1 : i64, i64 -> i64, i64{{$}}
// GENERIC: %a, %b = "kernel.exchange"(%i, %i) <{axis = 1 : i64}> : (i64, i64) -> (i64, i64)
kernel.func @k(%x : !kernel.buffer<i64>, %i : i64, %m : i1) lanes [4, 2] grid 1 {
  %a, %b = kernel.exchange %i, %i axis 1 : i64, i64 -> i64, i64
  kernel.return
}
