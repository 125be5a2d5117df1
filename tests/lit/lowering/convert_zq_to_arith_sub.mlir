// RUN: fhelium-opt %s -p convert-zq-to-arith | filecheck %s

// 2q and 3q are computed once each, where the modulus was; q itself needs no product.
// CHECK: %qi = kernel.load
// CHECK-NEXT: [[TWO:%.*]] = arith.constant 2 : i64
// CHECK-NEXT: [[Q2:%.*]] = arith.muli %q, [[TWO]] : i64
// CHECK-NEXT: [[THREE:%.*]] = arith.constant 3 : i64
// CHECK-NEXT: [[Q3:%.*]] = arith.muli %q, [[THREE]] : i64
// CHECK-NEXT: %a = kernel.load
// CHECK-NEXT: %b = kernel.load
// CHECK-NEXT: [[L1:%.*]] = arith.subi [[Q2]], %b : i64
// CHECK-NEXT: %c = arith.addi %a, [[L1]] : i64
// CHECK-NEXT: [[L2:%.*]] = arith.subi %q, %b : i64
// CHECK-NEXT: %d = arith.addi %c, [[L2]] : i64
// CHECK-NEXT: [[L3:%.*]] = arith.subi [[Q3]], %b : i64
// CHECK-NEXT: %e = arith.addi %d, [[L3]] : i64
// CHECK-NEXT: [[L4:%.*]] = arith.subi [[Q2]], %b : i64
// CHECK-NEXT: %r = arith.addi %e, [[L4]] : i64
// CHECK-NEXT: kernel.store %r
kernel.func @k(%x : !kernel.buffer<i64>, %o : i64) lanes [4] grid 1 {
  %l = kernel.lane_id 0
  %q = kernel.load %x[%o] : !kernel.buffer<i64> -> i64
  %qi = kernel.load %x[%o] : !kernel.buffer<i64> -> i64
  %m = zq.modulus %q, %qi : i64 -> !zq.modulus<mont64>
  %a = kernel.load %x[%l] : !kernel.buffer<i64> -> i64
  %b = kernel.load %x[%l] : !kernel.buffer<i64> -> i64
  %c = zq.sub %a, %b mod %m offset 2 : i64, !zq.modulus<mont64>
  %d = zq.sub %c, %b mod %m offset 1 : i64, !zq.modulus<mont64>
  %e = zq.sub %d, %b mod %m offset 3 : i64, !zq.modulus<mont64>
  %r = zq.sub %e, %b mod %m offset 2 : i64, !zq.modulus<mont64>
  kernel.store %r, %x[%l] : i64, !kernel.buffer<i64>
  kernel.return
}
