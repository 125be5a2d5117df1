// RUN: fhelium-opt %s -t triton | filecheck %s

// Values have extent 1 along the axes that they do not depend on; uniform values are scalars.
// CHECK{LITERAL}:     p = tl.program_id(1).to(tl.uint64)
// CHECK-NEXT{LITERAL}:     i = tl.arange(0, 4).to(tl.uint64)[:, None, None]
// CHECK-NEXT{LITERAL}:     j = tl.arange(0, 2).to(tl.uint64)[None, None, :]
// CHECK-NEXT{LITERAL}:     one = tl.full((), 0, tl.uint64)
// CHECK-NEXT{LITERAL}:     n = p + 5
// CHECK-NEXT{LITERAL}:     a = i * 2
// CHECK-NEXT{LITERAL}:     b = a + j
// CHECK-NEXT{LITERAL}:     c = b + n
// CHECK-NEXT{LITERAL}:     low = c < 3
// CHECK-NEXT{LITERAL}:     v = tl.load(x + i)
// CHECK-NEXT{LITERAL}:     w = tl.load(x + tl.broadcast_to(i, [4, 1, 2]), mask=low, other=0)
// CHECK-NEXT{LITERAL}:     s = v + w
// CHECK-NEXT{LITERAL}:     tl.store(x + c, s, mask=low)
// CHECK-NEXT{LITERAL}:     tl.store(x + tl.broadcast_to(i, [4, 1, 2]), s)
kernel.func @k(%x : !kernel.buffer<i64>) lanes [4, 1, 2] grid 2 {
  %p = kernel.program_id 1
  %i = kernel.lane_id 0
  %j = kernel.lane_id 2
  %one = kernel.lane_id 1
  %c5 = arith.constant 5 : i64
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %n = arith.addi %p, %c5 : i64
  %a = arith.muli %i, %c2 : i64
  %b = arith.addi %a, %j : i64
  %c = arith.addi %b, %n : i64
  %low = arith.cmpi ult, %c, %c3 : i64
  %v = kernel.load %x[%i] : !kernel.buffer<i64> -> i64
  %w = kernel.load %x[%i] mask %low : !kernel.buffer<i64> -> i64
  %s = arith.addi %v, %w : i64
  kernel.store %s, %x[%c] mask %low : i64, !kernel.buffer<i64>
  kernel.store %s, %x[%i] : i64, !kernel.buffer<i64>
  kernel.return
}
