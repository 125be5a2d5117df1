// RUN: fhelium-opt %s -p convert-zq-to-arith | filecheck %s

// The body of a loop is expanded too; what depends on the modulus alone stays outside.
// CHECK: [[Q2:%.*]] = arith.muli %q
// CHECK: scf.for
// CHECK-NEXT: [[L:%.*]] = arith.subi [[Q2]], %b : i64
// CHECK-NEXT: %s = arith.addi %v, [[L]] : i64
// CHECK-NEXT: scf.yield %s : i64
kernel.func @k(%x : !kernel.buffer<i64>, %o : i64) lanes [4] grid 1 {
  %l = kernel.lane_id 0
  %q = kernel.load %x[%o] : !kernel.buffer<i64> -> i64
  %qi = kernel.load %x[%o] : !kernel.buffer<i64> -> i64
  %m = zq.modulus %q, %qi : i64 -> !zq.modulus<mont64>
  %a = kernel.load %x[%l] : !kernel.buffer<i64> -> i64
  %b = kernel.load %x[%l] : !kernel.buffer<i64> -> i64
  %r = scf.for %i = %o to %l step %o iter_args(%v = %a) -> (i64) : i64 {
    %s = zq.sub %v, %b mod %m offset 2 : i64, !zq.modulus<mont64>
    scf.yield %s : i64
  }
  kernel.store %r, %x[%l] : i64, !kernel.buffer<i64>
  kernel.return
}
