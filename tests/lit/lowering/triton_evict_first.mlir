// RUN: fhelium-opt %s -t triton | filecheck %s

// CHECK-LABEL: def k
// CHECK{LITERAL}:     a = tl.load(x + i, eviction_policy="evict_first")
// CHECK{LITERAL}:     b = tl.load(x + i, mask=m, other=0, eviction_policy="evict_first")
// CHECK{LITERAL}:     c = tl.load(x + i)
kernel.func @k(%x : !kernel.buffer<i64>, %o : !kernel.buffer<i64>) lanes [16] grid 1 {
  %four = arith.constant 4 : i64
  %i = kernel.lane_id 0
  %m = arith.cmpi ult, %i, %four : i64
  %a = kernel.load %x[%i] {evict_first} : !kernel.buffer<i64> -> i64
  %b = kernel.load %x[%i] mask %m {evict_first} : !kernel.buffer<i64> -> i64
  %c = kernel.load %x[%i] : !kernel.buffer<i64> -> i64
  %s = arith.addi %a, %b : i64
  %t = arith.addi %s, %c : i64
  kernel.store %t, %o[%i] : i64, !kernel.buffer<i64>
  kernel.return
}
