// RUN: fhelium-opt %s -p convert-zq-to-arith | filecheck %s

// Multiples of q, and (q - 1)/2, stand where the modulus was.
// CHECK:      %i = kernel.load
// CHECK:      %q_wide = arith.extsi %q : i32 to i64
// CHECK:      %q4 = arith.muli %q, {{%.*}} : i32
// CHECK-NEXT: %q_minus4 = arith.subi %c0i32, %q4 : i32
// CHECK:      %q_half = arith.shrui %q, {{%.*}} : i32

// Sums and differences have no multiples of q.
// CHECK:      %b = kernel.load
// CHECK-NEXT: %s = arith.addi %a, %b : i32
// CHECK-NEXT: %d = arith.subi %s, %b : i32

// A product: the difference of the high words of two signed products.
// CHECK-NEXT: [[W:%.*]] = arith.extsi %d : i32 to i64
// CHECK-NEXT: [[V:%.*]] = arith.extsi %b : i32 to i64
// CHECK-NEXT: %product = arith.muli [[W]], [[V]] : i64
// CHECK-NEXT: %low = arith.trunci %product : i64 to i32
// CHECK-NEXT: [[M:%.*]] = arith.muli %low, %i : i32
// CHECK-NEXT: [[MW:%.*]] = arith.extsi [[M]] : i32 to i64
// CHECK-NEXT: %mq = arith.muli [[MW]], %q_wide : i64
// CHECK-NEXT: [[PS:%.*]] = arith.shrui %product, [[C32:%.*]] : i64
// CHECK-NEXT: [[PH:%.*]] = arith.trunci [[PS]] : i64 to i32
// CHECK-NEXT: [[MS:%.*]] = arith.shrui %mq, [[C32]] : i64
// CHECK-NEXT: [[MH:%.*]] = arith.trunci [[MS]] : i64 to i32
// CHECK-NEXT: %p = arith.subi [[PH]], [[MH]] : i32

// Towards 0, by the sign.
// CHECK-NEXT: %negative = arith.cmpi slt, %p, %c0i32 : i32
// CHECK-NEXT: [[MOVE:%.*]] = arith.select %negative, %q4, %q_minus4 : i32
// CHECK-NEXT: %r = arith.addi %p, [[MOVE]] : i32

// Centred: [-q/2, q/2) is [0, q) less q/2.
// CHECK-NEXT: [[SHIFTED:%.*]] = arith.addi %b, %q_half : i32
// CHECK-NEXT: [[LIFTED:%.*]] = arith.addi [[SHIFTED]], %q : i32
// CHECK-NEXT: [[POSITIVE:%.*]] = arith.minui [[SHIFTED]], [[LIFTED]] : i32
// CHECK-NEXT: [[LESS:%.*]] = arith.subi [[POSITIVE]], %q : i32
// CHECK-NEXT: [[REDUCED:%.*]] = arith.minui [[POSITIVE]], [[LESS]] : i32
// CHECK-NEXT: %c = arith.subi [[REDUCED]], %q_half : i32

// Canonical: negative words are large unsigned ones.
// CHECK-NEXT: [[L:%.*]] = arith.addi %s, {{%.*}} : i32
// CHECK-NEXT: [[P:%.*]] = arith.minui %s, [[L]] : i32
// CHECK-NEXT: [[D:%.*]] = arith.subi [[P]], %q : i32
// CHECK-NEXT: %z = arith.minui [[P]], [[D]] : i32
// CHECK-NEXT: kernel.store %c
// CHECK-NEXT: kernel.store %r
// CHECK-NEXT: kernel.store %z
kernel.func @k(%x : !kernel.buffer<i32>, %o : i64) lanes [4] grid 1 {
  %l = kernel.lane_id 0
  %q = kernel.load %x[%o] : !kernel.buffer<i32> -> i32
  %i = kernel.load %x[%o] : !kernel.buffer<i32> -> i32
  %m = zq.modulus %q, %i : i32 -> !zq.modulus<smont32>
  %a = kernel.load %x[%l] : !kernel.buffer<i32> -> i32
  %b = kernel.load %x[%l] : !kernel.buffer<i32> -> i32
  %s = zq.add %a, %b mod %m : i32, !zq.modulus<smont32>
  %d = zq.sub %s, %b mod %m offset 0 : i32, !zq.modulus<smont32>
  %p = zq.mul %d, %b mod %m : i32, !zq.modulus<smont32>
  %r = zq.reduce %p mod %m from 16 to 8 : i32, !zq.modulus<smont32>
  %c = zq.reduce %b mod %m from 3 to 1 : i32, !zq.modulus<smont32>
  %z = zq.canonical %s mod %m from 4 : !zq.modulus<smont32>
  kernel.store %c, %x[%l] : i32, !kernel.buffer<i32>
  kernel.store %r, %x[%l] : i32, !kernel.buffer<i32>
  kernel.store %z, %x[%l] : i32, !kernel.buffer<i32>
  kernel.return
}
