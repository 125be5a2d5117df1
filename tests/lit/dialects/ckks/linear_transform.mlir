// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// A square matrix, or some of its generalised diagonals, one in each row.
// CHECK-LABEL: func.func @f
// CHECK: %a = ckks.linear_transform %x, %m : !ckks.ciphertext, tensor<2x2xf64>
// CHECK: %b = ckks.linear_transform %a, %d {diagonals = array<i64: 3, 0>} : !ckks.ciphertext, tensor<2x4xf64>
// CHECK-NEXT: func.return %b : !ckks.ciphertext
// GENERIC: "ckks.linear_transform"(%a, %d) <{diagonals = array<i64: 3, 0>}> : (!ckks.ciphertext, tensor<2x4xf64>) -> !ckks.ciphertext
func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %m = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf64>
  %a = ckks.linear_transform %x, %m : !ckks.ciphertext, tensor<2x2xf64>
  %d = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf64>
  %b = ckks.linear_transform %a, %d {diagonals = array<i64: 3, 0>} : !ckks.ciphertext, tensor<2x4xf64>
  return %b : !ckks.ciphertext
}

// The result says nothing of its level, whatever the operand says, unless it is written.
// CHECK-LABEL: func.func @stated
// CHECK: %a = ckks.linear_transform %x, %m : !ckks.ciphertext<level = 1, scale = 2**40>, tensor<2x2xf64> -> !ckks.ciphertext<level = 1, scale = 2**80>
// GENERIC: func.func
func.func @stated(%x : !ckks.ciphertext<level = 1, scale = 2**40>) -> !ckks.ciphertext<level = 1, scale = 2**80> {
  %m = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf64>
  %a = ckks.linear_transform %x, %m : !ckks.ciphertext<level = 1, scale = 2**40>, tensor<2x2xf64> -> !ckks.ciphertext<level = 1, scale = 2**80>
  return %a : !ckks.ciphertext<level = 1, scale = 2**80>
}
