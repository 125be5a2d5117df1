// RUN: fhelium-opt %s -t llvm | filecheck %s

// Where all lanes share a mask, a branch goes around the load: nothing is read where the mask is false, and a masked
// access to an address that is not mapped would take hundreds of cycles.

// CHECK-LABEL: define void @"f"(i64 %begin, i64 %end, ptr %words)
// CHECK:       [[M:%\S+]] = icmp sge i64
// CHECK-NOT:   llvm.masked
// CHECK:       br i1 [[M]], label %[[ACCESS:\S+]], label %[[AFTER:\S+]]
// CHECK:       [[V:%\S+]] = load <8 x i64>
// CHECK:       phi <8 x i64> [ zeroinitializer, %{{\S+}} ], [ [[V]], %[[ACCESS]] ]
// CHECK:       br i1 [[M]],
// CHECK:       [[W:%\S+]] = call <8 x i64> @llvm.masked.gather.v8i64.v8p0({{.*}}<8 x i1> splat (i1 true)
// CHECK:       phi <8 x i64> [ zeroinitializer, %{{\S+}} ], [ [[W]],
builtin.module attributes {kernel.vector_bits = 512 : i64} {
kernel.func @f(%x : !kernel.buffer<i64>, %o : !kernel.buffer<i64>, %row : i64) lanes [8] grid 1 {
  %l = kernel.lane_id 0
  %zero = arith.constant 0 : i64
  %eight = arith.constant 8 : i64
  %m = arith.cmpi sge, %row, %zero : i64
  %start = arith.muli %row, %eight : i64
  %i = arith.addi %start, %l : i64
  %v = kernel.load %x[%i] mask %m : !kernel.buffer<i64> -> i64
  %square = arith.muli %l, %l : i64
  %j = arith.addi %start, %square : i64
  %w = kernel.load %x[%j] mask %m : !kernel.buffer<i64> -> i64
  %s = arith.addi %v, %w : i64
  kernel.store %s, %o[%l] : i64, !kernel.buffer<i64>
  kernel.return
}
}
