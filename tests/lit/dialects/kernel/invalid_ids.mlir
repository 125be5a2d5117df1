// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

// A program id along an axis that the grid lacks.
// CHECK: invalid_ids.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'kernel.program_id': the grid has no such axis
kernel.func @k(%x : !kernel.buffer<i64>, %i : i64, %m : i1) lanes [4] grid 1 {
  %p = kernel.program_id 1
  kernel.return
}

// -----

// A negative axis.
// CHECK: invalid_ids.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'kernel.program_id': the grid has no such axis
kernel.func @k(%x : !kernel.buffer<i64>, %i : i64, %m : i1) lanes [4] grid 1 {
  %p = kernel.program_id -1
  kernel.return
}

// -----

// A lane id along an axis that the tile lacks.
// CHECK: invalid_ids.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'kernel.lane_id': the tile has no such axis
kernel.func @k(%x : !kernel.buffer<i64>, %i : i64, %m : i1) lanes [4] grid 1 {
  %l = kernel.lane_id 1
  kernel.return
}

// -----

// The axis is looked up from inside of loops as well.
// CHECK: invalid_ids.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: 'kernel.lane_id': the tile has no such axis
kernel.func @k(%x : !kernel.buffer<i64>, %i : i64, %m : i1) lanes [4] grid 1 {
  scf.for %j = %i to %i step %i : i64 {
    %l = kernel.lane_id 2
  }
  kernel.return
}
