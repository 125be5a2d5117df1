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

// -----

// Blocks of an index permutation are powers of two.
// CHECK: invalid_memory.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'kernel.load': blocks is a power of two, of a buffer of integers
kernel.func @k(%x : !kernel.buffer<i32>, %i : i64) lanes [4] grid 1 {
  %a = kernel.load %x[%i] {blocks = 6 : i64} : !kernel.buffer<i32> -> i32
  kernel.return
}

// -----

// A hint is there or not.
// CHECK: invalid_memory.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'kernel.load': evict_first has no value
kernel.func @k(%x : !kernel.buffer<i64>, %i : i64) lanes [4] grid 1 {
  %a = kernel.load %x[%i] {evict_first = 1 : i64} : !kernel.buffer<i64> -> i64
  kernel.return
}

// -----

// Doubles are no indices.
// CHECK: invalid_memory.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'kernel.load': blocks is a power of two, of a buffer of integers
kernel.func @k(%x : !kernel.buffer<f64>, %i : i64) lanes [4] grid 1 {
  %a = kernel.load %x[%i] {blocks = 8 : i64} : !kernel.buffer<f64> -> f64
  kernel.return
}
