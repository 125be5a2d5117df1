// RUN: fhelium-opt %s -p convert-zq-to-arith | filecheck %s

// The low words of both products cancel, so only the high one of the second is used.
// CHECK: %b = kernel.load
// CHECK-NEXT: [[LOW:%.*]], [[HIGH:%.*]] = arith.mului_extended %a, %b : i64
// CHECK-NEXT: [[M:%.*]] = arith.muli [[LOW]], %qi : i64
// CHECK-NEXT: %{{.*}}, [[MQ:%.*]] = arith.mului_extended [[M]], %q : i64
// CHECK-NEXT: [[S:%.*]] = arith.addi [[HIGH]], %q : i64
// CHECK-NEXT: %r = arith.subi [[S]], [[MQ]] : i64
// CHECK-NEXT: kernel.store %r
kernel.func @k(%x : !kernel.buffer<i64>, %o : i64) lanes [4] grid 1 {
  %l = kernel.lane_id 0
  %q = kernel.load %x[%o] : !kernel.buffer<i64> -> i64
  %qi = kernel.load %x[%o] : !kernel.buffer<i64> -> i64
  %m = zq.modulus %q, %qi : i64 -> !zq.modulus<mont64>
  %a = kernel.load %x[%l] : !kernel.buffer<i64> -> i64
  %b = kernel.load %x[%l] : !kernel.buffer<i64> -> i64
  %r = zq.mul %a, %b mod %m : i64, !zq.modulus<mont64>
  kernel.store %r, %x[%l] : i64, !kernel.buffer<i64>
  kernel.return
}
