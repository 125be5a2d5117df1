// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: kernel.func @k
// CHECK-NEXT{LITERAL}: kernel.store %i, %x[%i] : i64, !kernel.buffer<i64>
// CHECK-NEXT{LITERAL}: kernel.store %i, %x[%i] mask %m : i64, !kernel.buffer<i64>
// GENERIC: "kernel.store"(%i, %x, %i) : (i64, !kernel.buffer<i64>, i64) -> ()
// GENERIC: "kernel.store"(%i, %x, %i, %m) : (i64, !kernel.buffer<i64>, i64, i1) -> ()
kernel.func @k(%x : !kernel.buffer<i64>, %i : i64, %m : i1) lanes [4] grid 1 {
  kernel.store %i, %x[%i] : i64, !kernel.buffer<i64>
  kernel.store %i, %x[%i] mask %m : i64, !kernel.buffer<i64>
  kernel.return
}
