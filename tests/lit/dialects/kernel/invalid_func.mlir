// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

// The type of the function and its block agree.
// CHECK: invalid_func.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'kernel.func': block arguments do not match the function type
"kernel.func"() <{sym_name = "k", function_type = (i64) -> (), lanes = array<i64: 2>, grid_rank = 1 : i64}> ({
  "kernel.return"() : () -> ()
}) : () -> ()

// -----

// Lane extents are powers of two.
// CHECK: invalid_func.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'kernel.func': lane extents must be powers of two
kernel.func @k(%x : !kernel.buffer<i64>, %i : i64, %m : i1) lanes [6] grid 1 {
  kernel.return
}

// -----

// Lane extents are positive.
// CHECK: invalid_func.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'kernel.func': lane extents must be powers of two
kernel.func @k(%x : !kernel.buffer<i64>, %i : i64, %m : i1) lanes [0] grid 1 {
  kernel.return
}

// -----

// A grid has an axis.
// CHECK: invalid_func.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'kernel.func': the grid has one to three axes
kernel.func @k(%x : !kernel.buffer<i64>, %i : i64, %m : i1) lanes [4] grid 0 {
  kernel.return
}

// -----

// A grid has at most three axes.
// CHECK: invalid_func.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'kernel.func': the grid has one to three axes
kernel.func @k(%x : !kernel.buffer<i64>, %i : i64, %m : i1) lanes [4] grid 4 {
  kernel.return
}

// -----

// A kernel ends with a return.
// CHECK: invalid_func.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'kernel.func': the body must end with kernel.return
kernel.func @k() lanes [1] grid 1 {
}
