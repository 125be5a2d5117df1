// RUN: fhelium-opt %s -t llvm | filecheck %s

// Each lane reads four words side by side: four vectors are transposed in registers. Words two apart are separated by
// one shuffle each. Nothing is gathered.

// CHECK-LABEL: define void @"rows"(
// CHECK-NOT:   gather
// CHECK-COUNT-4: load <4 x i64>, ptr
// CHECK-COUNT-8: shufflevector <4 x i64>
// CHECK-COUNT-3: add <4 x i64>
// CHECK:       store <4 x i64>
// CHECK-LABEL: define void @"pairs"(
// CHECK-NOT:   scatter
// CHECK-COUNT-2: load <4 x i64>, ptr
// CHECK:       shufflevector <4 x i64> %{{\S+}}, <4 x i64> %{{\S+}}, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
// CHECK-NEXT:  shufflevector <4 x i64> %{{\S+}}, <4 x i64> %{{\S+}}, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
// CHECK:       shufflevector <4 x i64> %{{\S+}}, <4 x i64> %{{\S+}}, <4 x i32> <i32 0, i32 4, i32 1, i32 5>
// CHECK-NEXT:  shufflevector <4 x i64> %{{\S+}}, <4 x i64> %{{\S+}}, <4 x i32> <i32 2, i32 6, i32 3, i32 7>
// CHECK-COUNT-2: store <4 x i64>
builtin.module attributes {kernel.vector_bits = 256 : i64} {
kernel.func @rows(%x : !kernel.buffer<i64>, %y : !kernel.buffer<i64>) lanes [4] grid 1 {
  %l = kernel.lane_id 0
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %c16 = arith.constant 16 : i64
  %i0 = arith.muli %l, %c16 : i64
  %i1 = arith.addi %i0, %c1 : i64
  %i2 = arith.addi %i0, %c2 : i64
  %i3 = arith.addi %i0, %c3 : i64
  %v0 = kernel.load %x[%i0] : !kernel.buffer<i64> -> i64
  %v1 = kernel.load %x[%i1] : !kernel.buffer<i64> -> i64
  %v2 = kernel.load %x[%i2] : !kernel.buffer<i64> -> i64
  %v3 = kernel.load %x[%i3] : !kernel.buffer<i64> -> i64
  %a = arith.addi %v0, %v1 : i64
  %b = arith.addi %a, %v2 : i64
  %c = arith.addi %b, %v3 : i64
  kernel.store %c, %y[%l] : i64, !kernel.buffer<i64>
  kernel.return
}
kernel.func @pairs(%x : !kernel.buffer<i64>, %y : !kernel.buffer<i64>) lanes [4] grid 1 {
  %l = kernel.lane_id 0
  %c1 = arith.constant 1 : i64
  %i0 = arith.shli %l, %c1 : i64
  %i1 = arith.addi %i0, %c1 : i64
  %v0 = kernel.load %x[%i0] : !kernel.buffer<i64> -> i64
  %v1 = kernel.load %x[%i1] : !kernel.buffer<i64> -> i64
  %a = arith.addi %v0, %v1 : i64
  kernel.store %a, %y[%i0] : i64, !kernel.buffer<i64>
  kernel.store %v0, %y[%i1] : i64, !kernel.buffer<i64>
  kernel.return
}
}
