// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: kernel.func @k
// CHECK-NEXT{LITERAL}: %a = kernel.load %x[%i] : !kernel.buffer<i64> -> i64
// CHECK-NEXT{LITERAL}: %b = kernel.load %x[%i] mask %m : !kernel.buffer<i64> -> i64
// CHECK-NEXT{LITERAL}: %c = kernel.load %x[%i] {blocks = 16 : i64} : !kernel.buffer<i64> -> i64
// CHECK-NEXT{LITERAL}: %d = kernel.load %x[%i] {evict_first} : !kernel.buffer<i64> -> i64
// GENERIC: %a = "kernel.load"(%x, %i) : (!kernel.buffer<i64>, i64) -> i64
// GENERIC: %b = "kernel.load"(%x, %i, %m) : (!kernel.buffer<i64>, i64, i1) -> i64
kernel.func @k(%x : !kernel.buffer<i64>, %i : i64, %m : i1) lanes [4] grid 1 {
  %a = kernel.load %x[%i] : !kernel.buffer<i64> -> i64
  %b = kernel.load %x[%i] mask %m : !kernel.buffer<i64> -> i64
  %c = kernel.load %x[%i] {blocks = 16 : i64} : !kernel.buffer<i64> -> i64
  %d = kernel.load %x[%i] {evict_first} : !kernel.buffer<i64> -> i64
  kernel.return
}
