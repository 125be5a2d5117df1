// RUN: fhelium-opt %s -t llvm | filecheck %s

// The even and the odd words of a vector are multiplied apart, since that is what vector units do, and put together in
// memory's order again.

// CHECK-LABEL: define void @"squares"(
// CHECK:       [[V:%\S+]] = load <8 x i32>, ptr
// CHECK-NEXT:  [[PAIRS:%\S+]] = bitcast <8 x i32> [[V]] to <4 x i64>
// CHECK-NEXT:  [[EVEN:%\S+]] = and <4 x i64> [[PAIRS]], splat (i64 4294967295)
// CHECK-NEXT:  [[ODD:%\S+]] = lshr <4 x i64> [[PAIRS]], splat (i64 32)
// CHECK-NEXT:  [[WIDE:%\S+]] = shufflevector <4 x i64> [[EVEN]], <4 x i64> [[ODD]],
// CHECK-NEXT:  [[SQUARE:%\S+]] = mul <8 x i64> [[WIDE]], [[WIDE]]
// CHECK:       [[HIGH:%\S+]] = lshr <8 x i64> [[SQUARE]], splat (i64 32)
// CHECK:       [[NARROW:%\S+]] = bitcast <4 x i64> %{{\S+}} to <8 x i32>
// CHECK-NEXT:  store <8 x i32> [[NARROW]]
builtin.module attributes {kernel.vector_bits = 256 : i64} {
kernel.func @squares(%x : !kernel.buffer<i32>) lanes [8] grid 1 {
  %l = kernel.lane_id 0
  %v = kernel.load %x[%l] : !kernel.buffer<i32> -> i32
  %w = arith.extui %v : i32 to i64
  %s = arith.muli %w, %w : i64
  %c32 = arith.constant 32 : i64
  %h = arith.shrui %s, %c32 : i64
  %r = arith.trunci %h : i64 to i32
  kernel.store %r, %x[%l] : i32, !kernel.buffer<i32>
  kernel.return
}
}
