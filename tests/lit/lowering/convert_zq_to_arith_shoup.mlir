// RUN: fhelium-opt %s -p convert-zq-to-arith --split-input-file | filecheck %s

// Of 32-bit words only the high half of value * quotient is wanted, of the other two products the low one; -q is
// computed once.
// CHECK-LABEL: kernel.func @narrow
// CHECK: [[C32:%.*]] = arith.constant 32 : i64
// CHECK: [[ZERO:%.*]] = arith.constant 0 : i32
// CHECK-NEXT: [[MINUS:%.*]] = arith.subi [[ZERO]], %q : i32
// CHECK: %w = kernel.load
// CHECK-NEXT: [[V:%.*]] = arith.extui %v : i32 to i64
// CHECK-NEXT: [[U:%.*]] = arith.extui %u : i32 to i64
// CHECK-NEXT: [[E:%.*]] = arith.muli [[V]], [[U]] : i64
// CHECK-NEXT: [[S:%.*]] = arith.shrui [[E]], [[C32]] : i64
// CHECK-NEXT: [[C:%.*]] = arith.trunci [[S]] : i64 to i32
// CHECK-NEXT: [[P:%.*]] = arith.muli %v, %w : i32
// CHECK-NEXT: [[M:%.*]] = arith.muli [[C]], [[MINUS]] : i32
// CHECK-NEXT: %r = arith.addi [[P]], [[M]] : i32
// CHECK-NOT: arith.subi
// CHECK: %s = arith.addi
kernel.func @narrow(%x : !kernel.buffer<i32>, %o : i64) lanes [4] grid 1 {
  %l = kernel.lane_id 0
  %q = kernel.load %x[%o] : !kernel.buffer<i32> -> i32
  %m = zq.modulus %q, %q : i32 -> !zq.modulus<mont32>
  %v = kernel.load %x[%l] : !kernel.buffer<i32> -> i32
  %u = kernel.load %x[%l] : !kernel.buffer<i32> -> i32
  %w = kernel.load %x[%l] : !kernel.buffer<i32> -> i32
  %r = zq.mul_shoup %v, %w, %u mod %m : i32, !zq.modulus<mont32>
  %s = zq.mul_shoup %r, %w, %u mod %m : i32, !zq.modulus<mont32>
  kernel.store %s, %x[%l] : i32, !kernel.buffer<i32>
  kernel.return
}

// -----

// CHECK-LABEL: kernel.func @wide
// CHECK: [[MINUS:%.*]] = arith.subi {{.*}}, %q : i64
// CHECK: %w = kernel.load
// CHECK-NEXT: %{{.*}}, [[C:%.*]] = arith.mului_extended %v, %u : i64
// CHECK-NEXT: [[P:%.*]] = arith.muli %v, %w : i64
// CHECK-NEXT: [[M:%.*]] = arith.muli [[C]], [[MINUS]] : i64
// CHECK-NEXT: %r = arith.addi [[P]], [[M]] : i64
kernel.func @wide(%x : !kernel.buffer<i64>, %o : i64) lanes [4] grid 1 {
  %l = kernel.lane_id 0
  %q = kernel.load %x[%o] : !kernel.buffer<i64> -> i64
  %m = zq.modulus %q, %q : i64 -> !zq.modulus<mont64>
  %v = kernel.load %x[%l] : !kernel.buffer<i64> -> i64
  %u = kernel.load %x[%l] : !kernel.buffer<i64> -> i64
  %w = kernel.load %x[%l] : !kernel.buffer<i64> -> i64
  %r = zq.mul_shoup %v, %w, %u mod %m : i64, !zq.modulus<mont64>
  kernel.store %r, %x[%l] : i64, !kernel.buffer<i64>
  kernel.return
}
