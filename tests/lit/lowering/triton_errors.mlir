// RUN: not fhelium-opt %s -t triton --split-input-file 2>&1 | filecheck %s

// A program has one trip count.
// CHECK: triton_errors.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: {{.*}}scf.for: the bounds depend on the lane
kernel.func @k(%i : i64) lanes [4] grid 1 {
  %l = kernel.lane_id 0
  scf.for %j = %i to %l step %i : i64 {
  }
  kernel.return
}

// -----

// Modular arithmetic must be expanded first.
// CHECK: triton_errors.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: {{.*}}triton: 'zq.modulus' has no form in Triton
kernel.func @k(%i : i64) lanes [4] grid 1 {
  %q = zq.modulus %i, %i : i64 -> !zq.modulus<mont64>
  kernel.return
}

// -----

// Arguments are words.
// CHECK: triton_errors.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: {{.*}}triton: arguments of bits are not supported
kernel.func @k(%x : !kernel.buffer<i64>, %i : i64, %m : i1) lanes [4] grid 1 {
  kernel.return
}

// -----

// Some ops have no form.
// CHECK: triton_errors.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: {{.*}}triton: 'arith.floordivsi' has no form in Triton
kernel.func @k(%i : i64) lanes [4] grid 1 {
  %r = arith.floordivsi %i, %i : i64
  kernel.return
}

// -----

// Warps come in powers of two.
// CHECK: triton_errors.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: {{.*}}kernel.func: num_warps must be a power of two from 1 to 32
kernel.func @k() lanes [1] grid 1 attributes {num_warps = 3 : i64} {
  kernel.return
}

// -----

// Doubles come in buffers.
// CHECK: triton_errors.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: {{.*}}triton: arguments that are doubles are not supported
kernel.func @k(%x : f64) lanes [1] grid 1 {
  kernel.return
}

// -----

// Python's `!=` holds for numbers that cannot be compared.
// CHECK: triton_errors.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: {{.*}}triton: this predicate of 'arith.cmpf' has no form in Triton
kernel.func @k(%x : !kernel.buffer<f64>, %i : i64) lanes [1] grid 1 {
  %a = kernel.load %x[%i] : !kernel.buffer<f64> -> f64
  %b = arith.cmpf one, %a, %a : f64
  kernel.return
}

// -----

// Constants are numbers.
// CHECK: triton_errors.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: {{.*}}triton: constants must be finite
kernel.func @k() lanes [1] grid 1 {
  %a = arith.constant 0x7ff0000000000000 : f64
  kernel.return
}
