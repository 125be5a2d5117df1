// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

// As many results as operands.
// CHECK: invalid_exchange.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'kernel.exchange': as many results as operands
kernel.func @k(%x : !kernel.buffer<i64>, %i : i64, %m : i1) lanes [2] grid 1 {
  %a = kernel.exchange %i, %i axis 0 : i64, i64 -> i64
  kernel.return
}

// -----

// All values have one type.
// CHECK: invalid_exchange.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'kernel.exchange': all values have one type
kernel.func @k(%x : !kernel.buffer<i64>, %i : i64, %m : i1) lanes [2] grid 1 {
  %a, %b = kernel.exchange %i, %m axis 0 : i64, i1 -> i64, i1
  kernel.return
}

// -----

// The lane axis has as many lanes as there are registers.
// CHECK: invalid_exchange.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'kernel.exchange': 2 registers need a lane axis of that extent
kernel.func @k(%x : !kernel.buffer<i64>, %i : i64, %m : i1) lanes [4] grid 1 {
  %a, %b = kernel.exchange %i, %i axis 0 : i64, i64 -> i64, i64
  kernel.return
}

// -----

// The lane axis exists.
// CHECK: invalid_exchange.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'kernel.exchange': 2 registers need a lane axis of that extent
kernel.func @k(%x : !kernel.buffer<i64>, %i : i64, %m : i1) lanes [2] grid 1 {
  %a, %b = kernel.exchange %i, %i axis 1 : i64, i64 -> i64, i64
  kernel.return
}
