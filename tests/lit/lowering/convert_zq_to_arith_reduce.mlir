// RUN: fhelium-opt %s -p convert-zq-to-arith | filecheck %s

// From 4q to q in two conditional subtractions, each an unsigned minimum; nothing to do is nothing.
// CHECK: [[Q2:%.*]] = arith.muli %q, {{.*}} : i64
// CHECK: %b = kernel.load
// CHECK-NEXT: [[L1:%.*]] = arith.subi %a, [[Q2]] : i64
// CHECK-NEXT: [[M1:%.*]] = arith.minui %a, [[L1]] : i64
// CHECK-NEXT: [[L2:%.*]] = arith.subi [[M1]], %q : i64
// CHECK-NEXT: %c = arith.minui [[M1]], [[L2]] : i64
// CHECK-NEXT: kernel.store %c
kernel.func @k(%x : !kernel.buffer<i64>, %o : i64) lanes [4] grid 1 {
  %l = kernel.lane_id 0
  %q = kernel.load %x[%o] : !kernel.buffer<i64> -> i64
  %qi = kernel.load %x[%o] : !kernel.buffer<i64> -> i64
  %m = zq.modulus %q, %qi : i64 -> !zq.modulus<mont64>
  %a = kernel.load %x[%l] : !kernel.buffer<i64> -> i64
  %b = kernel.load %x[%l] : !kernel.buffer<i64> -> i64
  %c = zq.reduce %a mod %m from 4 to 1 : i64, !zq.modulus<mont64>
  %r = zq.reduce %c mod %m from 1 to 1 : i64, !zq.modulus<mont64>
  kernel.store %r, %x[%l] : i64, !kernel.buffer<i64>
  kernel.return
}
