// RUN: fhelium-opt %s -t triton | filecheck %s

// Words are unsigned; signed ops are wrapped in casts; constants of 2^31 or more have a type.
// CHECK{LITERAL}:     big = tl.full((), 2147483648, tl.uint32)
// CHECK-NEXT{LITERAL}:     a = tl.minimum(n, big)
// CHECK-NEXT{LITERAL}:     b = tl.minimum(n.to(tl.int32), big.to(tl.int32)).to(tl.uint32)
// CHECK-NEXT{LITERAL}:     c = (n.to(tl.int32) >> big.to(tl.int32)).to(tl.uint32)
// CHECK-NEXT{LITERAL}:     d = n.to(tl.int32) < big.to(tl.int32)
// CHECK-NEXT{LITERAL}:     e = n < big
// CHECK-NEXT{LITERAL}:     f = tl.where(e, a, b)
// CHECK-NEXT{LITERAL}:     g = n.to(tl.uint64)
// CHECK-NEXT{LITERAL}:     h = n.to(tl.int32).to(tl.uint64)
// CHECK-NEXT{LITERAL}:     i = g.to(tl.uint32)
// CHECK-NEXT{LITERAL}:     j = (g & 1).to(tl.int1)
// CHECK-NEXT{LITERAL}:     k = 7 - n
// CHECK-NEXT{LITERAL}:     l = n >> 7
kernel.func @k(%n : i32) lanes [4] grid 1 {
  %big = arith.constant 2147483648 : i32
  %seven = arith.constant 7 : i32
  %a = arith.minui %n, %big : i32
  %b = arith.minsi %n, %big : i32
  %c = arith.shrsi %n, %big : i32
  %d = arith.cmpi slt, %n, %big : i32
  %e = arith.cmpi ult, %n, %big : i32
  %f = arith.select %e, %a, %b : i32
  %g = arith.extui %n : i32 to i64
  %h = arith.extsi %n : i32 to i64
  %i = arith.trunci %g : i64 to i32
  %j = arith.trunci %g : i64 to i1
  %k = arith.subi %seven, %n : i32
  %l = arith.shrui %n, %seven : i32
  kernel.return
}
