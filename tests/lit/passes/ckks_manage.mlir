// RUN: fhelium-opt %s -p ckks-manage | filecheck %s
// RUN: fhelium-opt %s -p ckks-manage,ckks-manage | filecheck %s
// RUN: fhelium-opt %s -p ckks-manage | fhelium-opt -p ckks-manage --remarks all 2>&1 | filecheck %s --check-prefixes=CHECK,AGAIN
// RUN: fhelium-opt %s -p ckks-manage --remarks applied 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: fhelium-opt %s -p ckks-manage,ckks-check | filecheck %s

module attributes {ckks.params = #ckks.params<
    ring_degree = 8192, q = [281474976546817, 274877562881, 274878136321],
    p = [281474976694273], digits = 3, scale = 2**38, secret = ternary>} {
// Nothing is written: arguments get the top level and the default scale, and the signature follows.
// CHECK-LABEL: func.func @square(%x: !ckks.ciphertext<level = 2, scale = 2**38>) -> !ckks.ciphertext<level = 1, scale = 2**76 / q2>
// CHECK-NEXT: %a = ckks.mul %x, %x : !ckks.ciphertext<level = 2, scale = 2**38>
// CHECK-NEXT: %b = ckks.relinearize %a : !ckks.ciphertext<level = 2, scale = 2**76, size = 3>
// CHECK-NEXT: %c = ckks.rescale %b : !ckks.ciphertext<level = 2, scale = 2**76>
// CHECK-NEXT: func.return %c : !ckks.ciphertext<level = 1, scale = 2**76 / q2>
// REMARK: ckks_manage.mlir:[[# @LINE + 1]]:1: remark: [ckks-manage] applied: 'func.func': %x gets level 2 and scale 2**38
func.func @square(%x : !ckks.ciphertext<level = ?>) -> !ckks.ciphertext<level = ?> {
  %a = ckks.mul %x, %x : !ckks.ciphertext<level = ?>
  %b = ckks.relinearize %a : !ckks.ciphertext<size = 3>
  %c = ckks.rescale %b : !ckks.ciphertext<level = ?>
  return %c : !ckks.ciphertext<level = ?>
}

// What is written stays, and decides the rest.
// CHECK-LABEL: func.func @written
// CHECK-SAME: (%x: !ckks.ciphertext<level = 1, scale = 2**38> {ckks.range = 2.000000e+00 : f64}, %y: !ckks.ciphertext<level = 2, scale = 2**20 * 3>, %p: !ckks.plaintext<level = 2, scale = 2**38>)
// CHECK-SAME: -> (!ckks.ciphertext<level = 1, scale = 2**38>, !ckks.ciphertext<level = 2, scale = 2**58 * 3>)
// REMARK: %x gets level 1 and scale 2**38
// REMARK: %y gets level 2 and scale 2**20 * 3
// REMARK: %p gets level 2 and scale 2**38
func.func @written(%x : !ckks.ciphertext<level = 1> {ckks.range = 2.0 : f64}, %y : !ckks.ciphertext<scale = 3 * 2**20>, %p : !ckks.plaintext) -> (!ckks.ciphertext<level = 1>, !ckks.ciphertext<level = ?>) {
  %a = ckks.negate %x : !ckks.ciphertext<level = 1>
  %b = ckks.mul_plain %y, %p : !ckks.ciphertext<scale = 3 * 2**20>, !ckks.plaintext
  return %a, %b : !ckks.ciphertext<level = 1>, !ckks.ciphertext<level = ?>
}

// An encoded constant takes in a product the ciphertext's level and the default scale, in a sum the level and scale of
// the ciphertext, and from an op that comes after it; one without a use gets the defaults.
// CHECK-LABEL: func.func @encode
// CHECK: %factor = ckks.encode %v : tensor<2xf64> -> !ckks.plaintext<level = 1, scale = 2**38>
// CHECK-NEXT: %fine = ckks.encode %v : tensor<2xf64> -> !ckks.plaintext<level = 1, scale = 2**50>
// CHECK-NEXT: %term = ckks.encode %v : tensor<2xf64> -> !ckks.plaintext<level = 1, scale = 2**88>
// CHECK-NEXT: %unused = ckks.encode %v : tensor<2xf64> -> !ckks.plaintext<level = 2, scale = 2**38>
// CHECK: func.return %d : !ckks.ciphertext<level = 0, scale = 2**126 / q1>
// REMARK-DAG: ckks_manage.mlir:[[# @LINE + 5]]:13: remark: [ckks-manage] applied: 'ckks.encode': %factor gets level 1 and scale 2**38
// REMARK-DAG: ckks_manage.mlir:[[# @LINE + 6]]:11: remark: [ckks-manage] applied: 'ckks.encode': %term gets level 1 and scale 2**88
// REMARK-DAG: ckks_manage.mlir:[[# @LINE + 6]]:13: remark: [ckks-manage] applied: 'ckks.encode': %unused gets level 2 and scale 2**38
func.func @encode(%x : !ckks.ciphertext<level = 1> {ckks.range = 1.0e-20 : f64}) -> !ckks.ciphertext<level = 0> {
  %v = arith.constant dense<[1.0e-20, 0.5e-20]> : tensor<2xf64>
  %factor = ckks.encode %v : tensor<2xf64> -> !ckks.plaintext
  %fine = ckks.encode %v : tensor<2xf64> -> !ckks.plaintext<scale = 2**50>
  %term = ckks.encode %v : tensor<2xf64> -> !ckks.plaintext
  %unused = ckks.encode %v : tensor<2xf64> -> !ckks.plaintext
  %a = ckks.mul_plain %x, %fine : !ckks.ciphertext<level = 1>, !ckks.plaintext<scale = 2**50>
  %b = ckks.sub_plain %a, %term : !ckks.ciphertext<level = 1>, !ckks.plaintext
  %c = ckks.mul_plain %b, %factor : !ckks.ciphertext<level = 1>, !ckks.plaintext
  %d = ckks.rescale %c : !ckks.ciphertext<level = 1>
  return %d : !ckks.ciphertext<level = 0>
}
}

// AGAIN-NOT: applied
