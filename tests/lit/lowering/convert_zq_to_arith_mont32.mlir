// RUN: fhelium-opt %s -p convert-zq-to-arith | filecheck %s

// Products of 32-bit words are 64-bit products of widened words; q is widened once.
// CHECK: %qi = kernel.load
// CHECK-NEXT: [[QW:%.*]] = arith.extui %q : i32 to i64
// CHECK-NEXT: [[C32:%.*]] = arith.constant 32 : i64
// CHECK: %b = kernel.load
// CHECK-NEXT: [[A:%.*]] = arith.extui %a : i32 to i64
// CHECK-NEXT: [[B:%.*]] = arith.extui %b : i32 to i64
// CHECK-NEXT: [[P:%.*]] = arith.muli [[A]], [[B]] : i64
// CHECK-NEXT: [[LOW:%.*]] = arith.trunci [[P]] : i64 to i32
// CHECK-NEXT: [[M:%.*]] = arith.muli [[LOW]], %qi : i32
// CHECK-NEXT: [[MW:%.*]] = arith.extui [[M]] : i32 to i64
// CHECK-NEXT: [[MQ:%.*]] = arith.muli [[MW]], [[QW]] : i64
// CHECK-NEXT: [[PS:%.*]] = arith.shrui [[P]], [[C32]] : i64
// CHECK-NEXT: [[HIGH:%.*]] = arith.trunci [[PS]] : i64 to i32
// CHECK-NEXT: [[S:%.*]] = arith.addi [[HIGH]], %q : i32
// CHECK-NEXT: [[MQS:%.*]] = arith.shrui [[MQ]], [[C32]] : i64
// CHECK-NEXT: [[MQH:%.*]] = arith.trunci [[MQS]] : i64 to i32
// CHECK-NEXT: %c = arith.subi [[S]], [[MQH]] : i32
// CHECK-NOT: arith.extui %q
// CHECK: %r = arith.subi
// CHECK-NEXT: kernel.store %r
kernel.func @k(%x : !kernel.buffer<i32>, %o : i64) lanes [4] grid 1 {
  %l = kernel.lane_id 0
  %q = kernel.load %x[%o] : !kernel.buffer<i32> -> i32
  %qi = kernel.load %x[%o] : !kernel.buffer<i32> -> i32
  %m = zq.modulus %q, %qi : i32 -> !zq.modulus<mont32>
  %a = kernel.load %x[%l] : !kernel.buffer<i32> -> i32
  %b = kernel.load %x[%l] : !kernel.buffer<i32> -> i32
  %c = zq.mul %a, %b mod %m : i32, !zq.modulus<mont32>
  %r = zq.mul %c, %b mod %m : i32, !zq.modulus<mont32>
  kernel.store %r, %x[%l] : i32, !kernel.buffer<i32>
  kernel.return
}
