// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

// Nothing may be contracted or reassociated.
// CHECK: invalid_doubles.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'kernel.func': 'arith.mulf' has fast-math flags
kernel.func @k(%x : !kernel.buffer<f64>, %i : i64) lanes [4] grid 1 {
  %a = kernel.load %x[%i] : !kernel.buffer<f64> -> f64
  %b = arith.mulf %a, %a fastmath<contract> : f64
  kernel.store %b, %x[%i] : f64, !kernel.buffer<f64>
  kernel.return
}

// -----

// A double is not 64 bits of an integer.
// CHECK: invalid_doubles.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'kernel.load': the result has the buffer's element type
kernel.func @k(%x : !kernel.buffer<f64>, %i : i64) lanes [4] grid 1 {
  %a = kernel.load %x[%i] : !kernel.buffer<f64> -> i64
  kernel.return
}

// -----

// All registers of an exchange have one type.
// CHECK: invalid_doubles.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: 'kernel.exchange': all values have one type
kernel.func @k(%x : !kernel.buffer<f64>, %i : i64) lanes [2] grid 1 {
  %a = kernel.load %x[%i] : !kernel.buffer<f64> -> f64
  %b, %c = kernel.exchange %a, %i axis 0 : f64, i64 -> f64, i64
  kernel.return
}

// -----

// Words are integers or doubles.
// CHECK: invalid_doubles.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: {{.*}}f32
kernel.func @k(%x : !kernel.buffer<f32>) lanes [2] grid 1 {
  kernel.return
}
