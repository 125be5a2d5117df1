// RUN: fhelium-opt %s -t triton | filecheck %s

// Carried values start as tiles over the axes that the body gives them, and are assigned at once.
// CHECK{LITERAL}:     s = tl.broadcast_to(c0, [4])
// CHECK-NEXT{LITERAL}:     t = i
// CHECK-NEXT{LITERAL}:     u = p
// CHECK-NEXT{LITERAL}:     for i_1 in range(0, n.to(tl.int64).to(tl.int64), 2):
// CHECK-NEXT{LITERAL}:         k = tl.full((), i_1, tl.int64).to(tl.uint64)
// CHECK-NEXT{LITERAL}:         a = s + i
// CHECK-NEXT{LITERAL}:         b = u + k
// CHECK-NEXT{LITERAL}:         s, t, u = t, a, b
// CHECK-NEXT{LITERAL}:     r = s + t
kernel.func @k(%n : i64) lanes [4] grid 1 {
  %c0 = arith.constant 0 : i64
  %c2 = arith.constant 2 : i64
  %p = kernel.program_id 0
  %i = kernel.lane_id 0
  %x, %y, %z = scf.for %k = %c0 to %n step %c2 iter_args(%s = %c0, %t = %i, %u = %p) -> (i64, i64, i64) : i64 {
    %a = arith.addi %s, %i : i64
    %b = arith.addi %u, %k : i64
    scf.yield %t, %a, %b : i64, i64, i64
  }
  %r = arith.addi %x, %y : i64
  kernel.return
}
