// RUN: fhelium-opt %s -p convert-zq-to-arith -t triton > %t.py
// RUN: filecheck %s < %t.py
// RUN: %python -m py_compile %t.py

// A sum and a difference with a product take its two high words themselves: GPUs add three words at once.
// CHECK{LITERAL}:     product = wide * wide_1
// CHECK{LITERAL}:     mq = wide_2 * q_wide
// CHECK-NOT{LITERAL}:  = high - high_1
// CHECK{LITERAL}:     s = a + high - high_1
// CHECK-NEXT{LITERAL}:     d = a - high + high_1
// One that is wanted for itself is computed.
// CHECK{LITERAL}:     r = high_2 - high_3
// CHECK{LITERAL}:     negative = r.to(tl.int32) < c0i32.to(tl.int32)
kernel.func @k(%x : !kernel.buffer<i32>, %o : i64) lanes [4] grid 1 {
  %l = kernel.lane_id 0
  %q = kernel.load %x[%o] : !kernel.buffer<i32> -> i32
  %i = kernel.load %x[%o] : !kernel.buffer<i32> -> i32
  %m = zq.modulus %q, %i : i32 -> !zq.modulus<smont32>
  %a = kernel.load %x[%l] : !kernel.buffer<i32> -> i32
  %b = kernel.load %x[%l] : !kernel.buffer<i32> -> i32
  %p = zq.mul %a, %b mod %m : i32, !zq.modulus<smont32>
  %s = zq.add %a, %p mod %m : i32, !zq.modulus<smont32>
  %d = zq.sub %a, %p mod %m offset 0 : i32, !zq.modulus<smont32>
  %r = zq.mul %s, %d mod %m : i32, !zq.modulus<smont32>
  %t = zq.reduce %r mod %m from 4 to 2 : i32, !zq.modulus<smont32>
  kernel.store %t, %x[%l] : i32, !kernel.buffer<i32>
  kernel.return
}
