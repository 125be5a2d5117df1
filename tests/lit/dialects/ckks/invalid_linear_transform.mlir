// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

// A matrix has as many rows as columns.
// CHECK: invalid_linear_transform.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.linear_transform: the matrix must be square, found tensor<2x4xf64>
func.func @f(%x : !ckks.ciphertext, %m : tensor<2x4xf64>) {
  %r = ckks.linear_transform %x, %m : !ckks.ciphertext, tensor<2x4xf64>
  return
}

// -----

// CHECK: invalid_linear_transform.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.linear_transform: the matrix must have two dimensions, and a power of two of columns, found tensor<3x3xf64>
func.func @f(%x : !ckks.ciphertext, %m : tensor<3x3xf64>) {
  %r = ckks.linear_transform %x, %m : !ckks.ciphertext, tensor<3x3xf64>
  return
}

// -----

// CHECK: invalid_linear_transform.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.linear_transform: the matrix must have two dimensions, and a power of two of columns, found tensor<4xf64>
func.func @f(%x : !ckks.ciphertext, %m : tensor<4xf64>) {
  %r = ckks.linear_transform %x, %m : !ckks.ciphertext, tensor<4xf64>
  return
}

// -----

// CHECK: invalid_linear_transform.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.linear_transform: the matrix must be a tensor of f64, found tensor<2x2xf32>
func.func @f(%x : !ckks.ciphertext, %m : tensor<2x2xf32>) {
  %r = ckks.linear_transform %x, %m : !ckks.ciphertext, tensor<2x2xf32>
  return
}

// -----

// CHECK: invalid_linear_transform.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.linear_transform: the operand must have size 2, found size 3; relinearize it first
func.func @f(%x : !ckks.ciphertext<size = 3>, %m : tensor<2x2xf64>) {
  %r = ckks.linear_transform %x, %m : !ckks.ciphertext<size = 3>, tensor<2x2xf64>
  return
}

// -----

// CHECK: invalid_linear_transform.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.linear_transform: 1 diagonals are named, the tensor has 2
func.func @f(%x : !ckks.ciphertext, %m : tensor<2x4xf64>) {
  %r = ckks.linear_transform %x, %m {diagonals = array<i64: 1>} : !ckks.ciphertext, tensor<2x4xf64>
  return
}

// -----

// CHECK: invalid_linear_transform.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.linear_transform: diagonal 4 is not between 0 and 3
func.func @f(%x : !ckks.ciphertext, %m : tensor<2x4xf64>) {
  %r = ckks.linear_transform %x, %m {diagonals = array<i64: 0, 4>} : !ckks.ciphertext, tensor<2x4xf64>
  return
}

// -----

// CHECK: invalid_linear_transform.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.linear_transform: a diagonal is named twice
func.func @f(%x : !ckks.ciphertext, %m : tensor<2x4xf64>) {
  %r = ckks.linear_transform %x, %m {diagonals = array<i64: 1, 1>} : !ckks.ciphertext, tensor<2x4xf64>
  return
}

// -----

// CHECK: invalid_linear_transform.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ckks.linear_transform: diagonals must be `array<i64: ...>`, found array<i32: 0, 1>
func.func @f(%x : !ckks.ciphertext, %m : tensor<2x4xf64>) {
  %r = ckks.linear_transform %x, %m {diagonals = array<i32: 0, 1>} : !ckks.ciphertext, tensor<2x4xf64>
  return
}
