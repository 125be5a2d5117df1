// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: kernel.func @k
// CHECK: {{^}}    %p = kernel.program_id 1{{$}}
// GENERIC: %p = "kernel.program_id"() <{axis = 1 : i64}> : () -> i64
kernel.func @k(%x : !kernel.buffer<i64>, %i : i64, %m : i1) lanes [4] grid 2 {
  %p = kernel.program_id 1
  kernel.return
}
