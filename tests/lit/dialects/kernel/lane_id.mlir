// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: kernel.func @k
// CHECK: {{^}}    %l = kernel.lane_id 1{{$}}
// GENERIC: %l = "kernel.lane_id"() <{axis = 1 : i64}> : () -> i64
kernel.func @k(%x : !kernel.buffer<i64>, %i : i64, %m : i1) lanes [4, 2] grid 1 {
  %l = kernel.lane_id 1
  kernel.return
}
