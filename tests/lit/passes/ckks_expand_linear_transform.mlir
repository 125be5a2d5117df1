// RUN: fhelium-opt %s -p ckks-expand | filecheck %s
// RUN: fhelium-opt %s -p 'ckks-expand{bsgs=none}' | filecheck %s --check-prefix=NONE
// RUN: fhelium-opt %s -p 'ckks-expand{bsgs=2}' --remarks applied 2>&1 >/dev/null | filecheck %s --check-prefix=TWO
// RUN: fhelium-opt %s -p ckks-expand,ckks-manage,ckks-check | filecheck %s --check-prefix=MANAGED

module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1125899906842177, 1099511627297, 1099511627873], p = [1125899906842273], digits = 3, scale = 2**40, secret = ternary, insecure>} {

// Eight diagonals, A[i][j] = 8 i + j: the baby step 4 costs three rotations of %x and one of
// a sum. The diagonals of the second sum are rotated back by 4.
// CHECK-LABEL: func.func @dense
// CHECK-COUNT-3: ckks.rotate %x
// CHECK-NOT: ckks.rotate %x
// CHECK: dense<[3.200000e+01, 4.100000e+01, 5.000000e+01, 5.900000e+01, 4.000000e+00, 1.300000e+01, 2.200000e+01, 3.100000e+01]> : tensor<8xf64>
// CHECK: [[SUM:%.*]] = ckks.rotate {{.*}} {steps = 4 : i64} : !ckks.ciphertext
// CHECK-NEXT: %y = ckks.add {{.*}}, [[SUM]] : !ckks.ciphertext
// CHECK-NEXT: func.return %y : !ckks.ciphertext
// NONE-LABEL: func.func @dense
// NONE-COUNT-7: ckks.rotate %x
// NONE-NOT: ckks.rotate
// NONE: func.return
// TWO: ckks_expand_linear_transform.mlir:[[# @LINE + 11]]:8: remark: [ckks-expand] applied: 'ckks.linear_transform': 8 of 8 diagonals with baby step 2: 1 rotations of the operand, 3 of sums
// MANAGED: func.func @dense(%x: !ckks.ciphertext<level = 1, {{.*}}>{{.*}} -> !ckks.ciphertext<level = 0,
func.func @dense(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %m = arith.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
                             [8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0],
                             [16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0],
                             [24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0],
                             [32.0, 33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0],
                             [40.0, 41.0, 42.0, 43.0, 44.0, 45.0, 46.0, 47.0],
                             [48.0, 49.0, 50.0, 51.0, 52.0, 53.0, 54.0, 55.0],
                             [56.0, 57.0, 58.0, 59.0, 60.0, 61.0, 62.0, 63.0]]> : tensor<8x8xf64>
  %y = ckks.linear_transform %x, %m : !ckks.ciphertext, tensor<8x8xf64>
  return %y : !ckks.ciphertext
}

// A cyclic shift is one diagonal of ones: a rotation, no product, no level. The other diagonals are zero.
// CHECK-LABEL: func.func @shift
// CHECK-NOT: mul_plain
// CHECK: %y = ckks.rotate %x {steps = 1 : i64} : !ckks.ciphertext
// CHECK-NEXT: func.return %y : !ckks.ciphertext
func.func @shift(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %m = arith.constant dense<[[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]]> : tensor<4x4xf64>
  %y = ckks.linear_transform %x, %m : !ckks.ciphertext, tensor<4x4xf64>
  return %y : !ckks.ciphertext
}

// Named diagonals; an equal one is a number, and two transforms of one value share a rotation.
// CHECK-LABEL: func.func @diagonals
// CHECK: dense<5.000000e-01> : tensor<1xf64>
// CHECK: [[TURNED:%.*]] = ckks.rotate %x {steps = 3 : i64} : !ckks.ciphertext
// CHECK-NOT: ckks.rotate
// CHECK: %a = ckks.add
// CHECK: %b = ckks.mul_plain [[TURNED]]
// CHECK: %c = ckks.add %a, %b : !ckks.ciphertext
func.func @diagonals(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %m = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [0.5, 0.5, 0.5, 0.5]]> : tensor<2x4xf64>
  %a = ckks.linear_transform %x, %m {diagonals = array<i64: 3, 0>} : !ckks.ciphertext, tensor<2x4xf64>
  %n = arith.constant dense<[[0.25, 1.0, 0.0, 0.0]]> : tensor<1x4xf64>
  %b = ckks.linear_transform %x, %n {diagonals = array<i64: 3>} : !ckks.ciphertext, tensor<1x4xf64>
  %c = ckks.add %a, %b : !ckks.ciphertext
  return %c : !ckks.ciphertext
}

// In a function whose writer manages levels the result is an unrescaled product.
// CHECK-LABEL: func.func @by_hand
// CHECK: %y = ckks.mul_plain %x, {{.*}} -> !ckks.ciphertext<level = 2, scale = 2**80>
// MANAGED-LABEL: func.func @by_hand
// MANAGED: %z = ckks.rescale %y : !ckks.ciphertext<level = 2, scale = 2**80>
func.func @by_hand(%x : !ckks.ciphertext<level = 2, scale = 2**40>) -> !ckks.ciphertext<level = 1, scale = 2**80 / q2> {
  %m = arith.constant dense<[[3.0, 0.0], [0.0, 4.0]]> : tensor<2x2xf64>
  %y = ckks.linear_transform %x, %m : !ckks.ciphertext<level = 2, scale = 2**40>, tensor<2x2xf64> -> !ckks.ciphertext<level = 2, scale = 2**80>
  %z = ckks.rescale %y : !ckks.ciphertext<level = 2, scale = 2**80>
  return %z : !ckks.ciphertext<level = 1, scale = 2**80 / q2>
}
}
