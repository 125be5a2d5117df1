// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

// A grid has programs.
// CHECK: invalid_launch.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'host.launch': grid extents must be positive
func.func @main(%x : memref<4xi64>, %n : i64) {
  host.launch @k grid [4, 0](%x, %n) : memref<4xi64>, i64
  return
}
