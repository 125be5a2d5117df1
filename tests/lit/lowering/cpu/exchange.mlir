// RUN: fhelium-opt %s -t llvm | filecheck %s

// Two segments around the exchange. What depends on the program only stands outside of the lane loops, what depends on
// lane axis 0 only in the outer one; axis 1 is one vector.

// CHECK-LABEL: define void @"transpose"(i64 %begin, i64 %end, ptr %words) {
// CHECK:       [[ARRAY:%\S+]] = alloca i64, i64 16, align 64

// Programs.
// CHECK:       %program = phi i64 [ %begin, %entry ], [ %program.next, %next ]
// CHECK-NEXT:  [[MORE:%\S+]] = icmp slt i64 %program, %end
// CHECK-NEXT:  br i1 [[MORE]], label %body, label %done
// CHECK:       [[ID:%\S+]] = urem i64 %program,
// CHECK:       [[BASE:%\S+]] = mul i64 [[ID]],

// First segment.
// CHECK:       [[A:%\S+]] = phi i64
// CHECK-NEXT:  [[PW:%\S+]] = getelementptr i64, ptr %{{\S+}}, i64 [[A]]
// CHECK-NEXT:  [[S:%\S+]] = load i64, ptr [[PW]]
// CHECK:       [[V:%\S+]] = load <4 x i64>, ptr
// CHECK:       insertelement <4 x i64> poison, i64 [[S]], i64 0
// CHECK:       [[VS:%\S+]] = add <4 x i64> [[V]],
// CHECK:       [[PLACE:%\S+]] = getelementptr i64, ptr [[ARRAY]],
// CHECK-NEXT:  store <4 x i64> [[V]], ptr [[PLACE]]
// CHECK-NEXT:  [[SECOND:%\S+]] = getelementptr i64, ptr [[PLACE]], i64 8
// CHECK-NEXT:  store <4 x i64> [[VS]], ptr [[SECOND]]

// Second segment.
// CHECK:       [[B:%\S+]] = phi i64
// CHECK:       [[ROW:%\S+]] = mul i64 [[B]], 8
// CHECK-NEXT:  [[READ:%\S+]] = getelementptr i64, ptr [[ARRAY]], i64 [[ROW]]
// CHECK-NEXT:  [[E:%\S+]] = load <4 x i64>, ptr [[READ]]
// CHECK:       store <4 x i64> [[E]],
// CHECK:       %program.next = add i64 %program, 1
// CHECK:       ret void
builtin.module attributes {kernel.vector_bits = 256 : i64} {
kernel.func @transpose(%x : !kernel.buffer<i64>, %w : !kernel.buffer<i64>, %y : !kernel.buffer<i64>, %n : i64) lanes [2, 4] grid 1 {
  %p = kernel.program_id 0
  %base = arith.muli %p, %n : i64
  %a = kernel.lane_id 0
  %b = kernel.lane_id 1
  %c2 = arith.constant 2 : i64
  %c4 = arith.constant 4 : i64
  %a4 = arith.shli %a, %c2 : i64
  %ab = arith.addi %a4, %b : i64
  %i = arith.addi %base, %ab : i64
  %s = kernel.load %w[%a] : !kernel.buffer<i64> -> i64
  %v = kernel.load %x[%i] : !kernel.buffer<i64> -> i64
  %vs = arith.addi %v, %s : i64
  %e0, %e1 = kernel.exchange %v, %vs axis 0 : i64, i64 -> i64, i64
  kernel.store %e0, %y[%i] : i64, !kernel.buffer<i64>
  kernel.return
}
}
