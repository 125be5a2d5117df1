// RUN: fhelium-opt %s -t triton | filecheck %s

// 64-bit halves are a low and a high product; 32-bit halves come from one widening product.
// CHECK{LITERAL}:     a = n * n
// CHECK-NEXT{LITERAL}:     b = tl.umulhi(n, n)
// CHECK-NEXT{LITERAL}:     d = tl.umulhi(n, b)
// CHECK-NEXT{LITERAL}:     wide = m.to(tl.uint64) * m.to(tl.uint64)
// CHECK-NEXT{LITERAL}:     e = wide.to(tl.uint32)
// CHECK-NEXT{LITERAL}:     f = (wide >> 32).to(tl.uint32)
kernel.func @k(%n : i64, %m : i32) lanes [4] grid 1 {
  %a, %b = arith.mului_extended %n, %n : i64
  %c, %d = arith.mului_extended %n, %b : i64
  %e, %f = arith.mului_extended %m, %m : i32
  %g = arith.addi %a, %d : i64
  %h = arith.addi %e, %f : i32
  kernel.return
}
