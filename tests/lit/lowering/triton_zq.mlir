// RUN: fhelium-opt %s -p convert-zq-to-arith -t triton | filecheck %s

// A Montgomery product from the modulus to the text.
// CHECK{LITERAL}:     low = a * b
// CHECK-NEXT{LITERAL}:     high = tl.umulhi(a, b)
// CHECK-NEXT{LITERAL}:     m = low * qi
// CHECK-NEXT{LITERAL}:     mq_high = tl.umulhi(m, q)
// CHECK-NEXT{LITERAL}:     lifted = high + q
// CHECK-NEXT{LITERAL}:     r = lifted - mq_high
// CHECK-NEXT{LITERAL}:     tl.store(x + l, r)
kernel.func @k(%x : !kernel.buffer<i64>, %o : i64) lanes [4] grid 1 {
  %l = kernel.lane_id 0
  %q = kernel.load %x[%o] : !kernel.buffer<i64> -> i64
  %qi = kernel.load %x[%o] : !kernel.buffer<i64> -> i64
  %m = zq.modulus %q, %qi : i64 -> !zq.modulus<mont64>
  %a = kernel.load %x[%l] : !kernel.buffer<i64> -> i64
  %b = kernel.load %x[%l] : !kernel.buffer<i64> -> i64
  %r = zq.mul %a, %b mod %m : i64, !zq.modulus<mont64>
  kernel.store %r, %x[%l] : i64, !kernel.buffer<i64>
  kernel.return
}
