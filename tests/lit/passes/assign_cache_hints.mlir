// RUN: fhelium-opt %s -p 'assign-cache-hints{device="%S/Inputs/small_cache.json"}' --remarks all 2>%t.err | filecheck %s
// RUN: filecheck %s --input-file %t.err --check-prefix=REMARK
// RUN: fhelium-opt %s -p 'assign-cache-hints{device="%S/Inputs/small_cache.json"}' | fhelium-opt - --print-generic | fhelium-opt - | filecheck %s
// RUN: fhelium-opt %s -p assign-cache-hints | filecheck %s --check-prefix=LARGE
// RUN: fhelium-opt %s -p 'assign-cache-hints{device=cpu}' | filecheck %s --check-prefix=LARGE

// All of this stays in 40 MiB, and a processor has no cache that all programs share.
// LARGE:     kernel.func
// LARGE-NOT: evict_first

// REMARK:      assign_cache_hints.mlir:[[# @LINE + 8]]:1: remark: [assign-cache-hints] applied: 'kernel.func': words of %x are not read again
// REMARK-NEXT: assign_cache_hints.mlir:[[# @LINE + 27]]:1: remark: [assign-cache-hints] applied: 'kernel.func': words of %a are not read again

// Sixteen programs of 256 lanes for each of two rows. Both launches read what nothing reads after them: the first one
// its argument; the second one words that the third launch overwrites before the fourth one reads them.

// CHECK-LABEL: kernel.func @last(
// CHECK:         %v = kernel.load %x[%i] {evict_first} : !kernel.buffer<i64> -> i64
kernel.func @last(%x : !kernel.buffer<i64>, %o : !kernel.buffer<i64>) lanes [256] grid 2 {
  %degree = arith.constant 4096 : i64
  %lanes = arith.constant 256 : i64
  %row = kernel.program_id 1
  %block = kernel.program_id 0
  %l = kernel.lane_id 0
  %start = arith.muli %row, %degree : i64
  %first = arith.muli %block, %lanes : i64
  %in = arith.addi %first, %l : i64
  %i = arith.addi %start, %in : i64
  %v = kernel.load %x[%i] : !kernel.buffer<i64> -> i64
  kernel.store %v, %o[%i] : i64, !kernel.buffer<i64>
  kernel.return
}

// Of its two inputs the second one is read by both rows, the whole of it.

// CHECK-LABEL: kernel.func @shared(
// CHECK:         %v = kernel.load %a[%i] {evict_first} : !kernel.buffer<i64> -> i64
// CHECK:         %w = kernel.load %b[%in] : !kernel.buffer<i64> -> i64
kernel.func @shared(%a : !kernel.buffer<i64>, %b : !kernel.buffer<i64>, %o : !kernel.buffer<i64>) lanes [256] grid 2 {
  %degree = arith.constant 4096 : i64
  %lanes = arith.constant 256 : i64
  %row = kernel.program_id 1
  %block = kernel.program_id 0
  %l = kernel.lane_id 0
  %start = arith.muli %row, %degree : i64
  %first = arith.muli %block, %lanes : i64
  %in = arith.addi %first, %l : i64
  %i = arith.addi %start, %in : i64
  %v = kernel.load %a[%i] : !kernel.buffer<i64> -> i64
  %w = kernel.load %b[%in] : !kernel.buffer<i64> -> i64
  %s = arith.addi %v, %w : i64
  kernel.store %s, %o[%i] : i64, !kernel.buffer<i64>
  kernel.return
}

// A launch of it is followed by one that reads the same words.

// CHECK-LABEL: kernel.func @again(
// CHECK-NOT:     evict_first
// CHECK:         kernel.return
kernel.func @again(%x : !kernel.buffer<i64>, %o : !kernel.buffer<i64>) lanes [256] grid 2 {
  %degree = arith.constant 4096 : i64
  %lanes = arith.constant 256 : i64
  %row = kernel.program_id 1
  %block = kernel.program_id 0
  %l = kernel.lane_id 0
  %start = arith.muli %row, %degree : i64
  %first = arith.muli %block, %lanes : i64
  %in = arith.addi %first, %l : i64
  %i = arith.addi %start, %in : i64
  %v = kernel.load %x[%i] : !kernel.buffer<i64> -> i64
  kernel.store %v, %o[%i] : i64, !kernel.buffer<i64>
  kernel.return
}

// A launch of it is in a loop.

// CHECK-LABEL: kernel.func @looped(
// CHECK-NOT:     evict_first
// CHECK:         kernel.return
kernel.func @looped(%x : !kernel.buffer<i64>, %o : !kernel.buffer<i64>) lanes [256] grid 2 {
  %degree = arith.constant 4096 : i64
  %lanes = arith.constant 256 : i64
  %row = kernel.program_id 1
  %block = kernel.program_id 0
  %l = kernel.lane_id 0
  %start = arith.muli %row, %degree : i64
  %first = arith.muli %block, %lanes : i64
  %in = arith.addi %first, %l : i64
  %i = arith.addi %start, %in : i64
  %v = kernel.load %x[%i] : !kernel.buffer<i64> -> i64
  kernel.store %v, %o[%i] : i64, !kernel.buffer<i64>
  kernel.return
}

// A loop behind its launch reads the same words.

// CHECK-LABEL: kernel.func @before(
// CHECK-NOT:     evict_first
// CHECK:         kernel.return
kernel.func @before(%x : !kernel.buffer<i64>, %o : !kernel.buffer<i64>) lanes [256] grid 2 {
  %degree = arith.constant 4096 : i64
  %lanes = arith.constant 256 : i64
  %row = kernel.program_id 1
  %block = kernel.program_id 0
  %l = kernel.lane_id 0
  %start = arith.muli %row, %degree : i64
  %first = arith.muli %block, %lanes : i64
  %in = arith.addi %first, %l : i64
  %i = arith.addi %start, %in : i64
  %v = kernel.load %x[%i] : !kernel.buffer<i64> -> i64
  kernel.store %v, %o[%i] : i64, !kernel.buffer<i64>
  kernel.return
}

// CHECK-LABEL: @straight
func.func @straight(%x : memref<2x4096xi64>, %y : memref<2x4096xi64>, %z : memref<2x4096xi64>) -> memref<2x4096xi64> {
  %arena = host.alloc : memref<131072xi8>
  %r = host.alloc : memref<2x4096xi64>
  %a = host.view %arena at 0 : memref<131072xi8> -> memref<2x4096xi64>
  %b = host.view %arena at 65536 : memref<131072xi8> -> memref<2x4096xi64>
  host.launch @last grid [16, 2](%x, %a) : memref<2x4096xi64>, memref<2x4096xi64>
  host.launch @shared grid [16, 2](%a, %y, %b) : memref<2x4096xi64>, memref<2x4096xi64>, memref<2x4096xi64>
  host.launch @again grid [16, 2](%z, %a) : memref<2x4096xi64>, memref<2x4096xi64>
  host.launch @again grid [16, 2](%z, %r) : memref<2x4096xi64>, memref<2x4096xi64>
  host.launch @last grid [16, 2](%a, %r) : memref<2x4096xi64>, memref<2x4096xi64>
  return %r : memref<2x4096xi64>
}

// CHECK-LABEL: @loop
func.func @loop(%x : memref<2x4096xi64>, %y : memref<2x4096xi64>, %n : i64) -> memref<2x4096xi64> {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a = host.alloc : memref<2x4096xi64>
  %r = host.alloc : memref<2x4096xi64>
  host.launch @before grid [16, 2](%x, %r) : memref<2x4096xi64>, memref<2x4096xi64>
  scf.for %k = %zero to %n step %one : i64 {
    host.launch @looped grid [16, 2](%x, %a) : memref<2x4096xi64>, memref<2x4096xi64>
  }
  host.launch @looped grid [16, 2](%a, %r) : memref<2x4096xi64>, memref<2x4096xi64>
  host.launch @looped grid [16, 2](%y, %r) : memref<2x4096xi64>, memref<2x4096xi64>
  return %r : memref<2x4096xi64>
}
