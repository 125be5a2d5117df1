// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

// A load gives a word of the buffer.
// CHECK: invalid_memory.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'kernel.load': the result has the buffer's element type
kernel.func @k(%x : !kernel.buffer<i64>, %i : i64, %m : i1) lanes [4] grid 1 {
  %a = kernel.load %x[%i] : !kernel.buffer<i64> -> i32
  kernel.return
}

// -----

// A store takes a word of the buffer.
// CHECK: invalid_memory.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'kernel.store': the value must have the buffer's element type
kernel.func @k(%x : !kernel.buffer<i64>, %i : i64, %m : i1) lanes [4] grid 1 {
  kernel.store %m, %x[%i] : i1, !kernel.buffer<i64>
  kernel.return
}
