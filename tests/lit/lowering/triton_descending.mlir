// RUN: fhelium-opt %s -t triton | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt | filecheck %s --check-prefix ROUND

// A GPU starts programs in ascending order: the ids of axis 1 count down, those of other axes stay.
// CHECK-LABEL: def last_rows_first
// CHECK{LITERAL}:     block = tl.program_id(0).to(tl.uint64)
// CHECK-NEXT{LITERAL}:     row = (tl.num_programs(1) - 1 - tl.program_id(1)).to(tl.uint64)
// CHECK-LABEL: def first_rows_first
// CHECK{LITERAL}:     row = tl.program_id(1).to(tl.uint64)

// ROUND: kernel.func @last_rows_first({{.*}}) lanes [16] grid 2 attributes {descending} {
// ROUND: kernel.func @first_rows_first({{.*}}) lanes [16] grid 2 {
kernel.func @last_rows_first(%x : !kernel.buffer<i64>) lanes [16] grid 2 attributes {descending} {
  %block = kernel.program_id 0
  %row = kernel.program_id 1
  %lane = kernel.lane_id 0
  %sum = arith.addi %block, %row : i64
  %offset = arith.addi %sum, %lane : i64
  %word = kernel.load %x[%offset] : !kernel.buffer<i64> -> i64
  kernel.store %word, %x[%offset] : i64, !kernel.buffer<i64>
  kernel.return
}
kernel.func @first_rows_first(%x : !kernel.buffer<i64>) lanes [16] grid 2 {
  %row = kernel.program_id 1
  %lane = kernel.lane_id 0
  %offset = arith.addi %row, %lane : i64
  %word = kernel.load %x[%offset] : !kernel.buffer<i64> -> i64
  kernel.store %word, %x[%offset] : i64, !kernel.buffer<i64>
  kernel.return
}
