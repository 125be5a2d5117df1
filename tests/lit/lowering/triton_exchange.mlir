// RUN: fhelium-opt %s -t triton | filecheck %s

// Four registers become one axis, which trades places with the lane axis.
// CHECK{LITERAL}:     pair = tl.join(a, b)
// CHECK-NEXT{LITERAL}:     pair_1 = tl.join(tl.broadcast_to(p, [4, 2]), tl.broadcast_to(i, [4, 2]))
// CHECK-NEXT{LITERAL}:     tile = tl.join(pair, pair_1)
// CHECK-NEXT{LITERAL}:     tile = tl.reshape(tile, [4, 2, 4])
// CHECK-NEXT{LITERAL}:     tile = tl.permute(tile, [2, 1, 0])
// CHECK-NEXT{LITERAL}:     tile = tl.reshape(tile, [4, 2, 2, 2])
// CHECK-NEXT{LITERAL}:     even, odd = tl.split(tile)
// CHECK-NEXT{LITERAL}:     w, y = tl.split(even)
// CHECK-NEXT{LITERAL}:     x, z = tl.split(odd)
kernel.func @k() lanes [4, 2] grid 1 {
  %p = kernel.program_id 0
  %i = kernel.lane_id 0
  %j = kernel.lane_id 1
  %a = arith.addi %i, %j : i64
  %b = arith.addi %a, %p : i64
  %w, %x, %y, %z = kernel.exchange %a, %p, %b, %i axis 0 : i64, i64, i64, i64 -> i64, i64, i64, i64
  kernel.return
}
