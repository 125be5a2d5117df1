// RUN: fhelium-opt %s -p convert-kernels-to-llvm | filecheck %s
// RUN: fhelium-opt %s -p 'convert-kernels-to-llvm{vector_products=false}' | filecheck %s --check-prefix=SCALAR

// The upper word of a 64-bit product is a function where LLVM can vectorise, and nothing promises
// the absence of overflow. Masked accesses branch around the access.

// CHECK:       llvm.func @fhelium.umulh(i64, i64) -> i64
// CHECK-LABEL: llvm.func @"a b"(
// CHECK-NOT:   overflow
// CHECK-NOT:   i128
// CHECK:       llvm.cond_br [[MASK:%\S+]], ^[[ACCESS:bb[0-9]+]], ^[[AFTER:bb[0-9]+]](%{{\S+}} : i64)
// CHECK-NEXT:  ^[[ACCESS]]:
// CHECK-NEXT:  llvm.getelementptr
// CHECK-NEXT:  [[LOADED:%\S+]] = llvm.load
// CHECK-NEXT:  llvm.br ^[[AFTER]]([[LOADED]] : i64)
// CHECK-NEXT:  ^[[AFTER]](%{{\S+}}: i64):
// CHECK:       llvm.call @fhelium.umulh(
// CHECK-NEXT:  llvm.icmp "ult"
// CHECK-NEXT:  llvm.select
// CHECK:       llvm.cond_br [[MASK]], ^[[ACCESS:bb[0-9]+]], ^[[AFTER:bb[0-9]+]]
// CHECK-NEXT:  ^[[ACCESS]]:
// CHECK:       llvm.store
// CHECK-NEXT:  llvm.br ^[[AFTER]]
// CHECK:       {fhelium.lane_loop = 8 : i32}

// SCALAR-NOT:  umulh
// SCALAR:      llvm.zext %{{\S+}} : i64 to i128
// SCALAR:      llvm.mul %{{\S+}}, %{{\S+}} : i128
// SCALAR-NEXT: llvm.lshr %{{\S+}}, %{{\S+}} : i128
// SCALAR-NEXT: llvm.trunc %{{\S+}} : i128 to i64
kernel.func @"a b"(%x : !kernel.buffer<i64>, %n : i64) lanes [8] grid 1 {
  %l = kernel.lane_id 0
  %m = arith.cmpi ult, %l, %n : i64
  %v = kernel.load %x[%l] mask %m : !kernel.buffer<i64> -> i64
  %low, %high = arith.mului_extended %v, %v : i64
  %r = arith.minui %low, %high : i64
  kernel.store %r, %x[%l] mask %m : i64, !kernel.buffer<i64>
  kernel.return
}
