// RUN: fhelium-opt %s -p convert-zq-to-arith | filecheck %s

// A lazy sum is a sum; the modulus is gone.
// CHECK-LABEL: kernel.func @k
// CHECK-NOT: zq.
// CHECK: %r = arith.addi %a, %b : i64
// CHECK-NEXT: kernel.store %r
kernel.func @k(%x : !kernel.buffer<i64>, %o : i64) lanes [4] grid 1 {
  %l = kernel.lane_id 0
  %q = kernel.load %x[%o] : !kernel.buffer<i64> -> i64
  %qi = kernel.load %x[%o] : !kernel.buffer<i64> -> i64
  %m = zq.modulus %q, %qi : i64 -> !zq.modulus<mont64>
  %a = kernel.load %x[%l] : !kernel.buffer<i64> -> i64
  %b = kernel.load %x[%l] : !kernel.buffer<i64> -> i64
  %r = zq.add %a, %b mod %m : i64, !zq.modulus<mont64>
  kernel.store %r, %x[%l] : i64, !kernel.buffer<i64>
  kernel.return
}
