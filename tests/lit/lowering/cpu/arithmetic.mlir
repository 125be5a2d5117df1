// RUN: fhelium-opt %s -t llvm | filecheck %s
// RUN: sed 's/512/128/' %s | fhelium-opt - -t llvm | filecheck %s --check-prefix=NARROW

// Lanes run in vectors, as long as the attribute says. The upper word of a 64-bit product is a function that LLVM meets
// late, nothing promises the absence of overflow, and masked accesses are masked vectors.

// CHECK:       declare <8 x i64> @llvm.masked.load.v8i64.p0(ptr, i32, <8 x i1>, <8 x i64>)
// CHECK-LABEL: define void @"a\20b"(i64 %begin, i64 %end, ptr %words)
// CHECK-NOT:   i128
// CHECK:       [[MASK:%\S+]] = icmp ult <8 x i64> <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>,
// CHECK-NEXT:  [[V:%\S+]] = call <8 x i64> @llvm.masked.load.v8i64.p0(ptr [[X:%\S+]], i32 8, <8 x i1> [[MASK]],
// CHECK-NEXT:  [[LOW:%\S+]] = mul <8 x i64> [[V]], [[V]]
// CHECK-NEXT:  [[HIGH:%\S+]] = call <8 x i64> @fhelium.umulh.8(<8 x i64> [[V]], <8 x i64> [[V]])
// CHECK-NEXT:  icmp ult <8 x i64> [[LOW]], [[HIGH]]
// CHECK-NEXT:  select <8 x i1>
// CHECK-NEXT:  call void @llvm.masked.store.v8i64.p0(<8 x i64> %{{\S+}}, ptr [[X]], i32 8, <8 x i1> [[MASK]])
// CHECK:       ret void
// CHECK:       define linkonce_odr hidden <8 x i64> @fhelium.umulh.8(<8 x i64> %a, <8 x i64> %b) alwaysinline {
// CHECK-NOT:   i128
// CHECK:       mul <8 x i64> %a1, %b1

// NARROW:      phi i64
// NARROW:      call <2 x i64> @fhelium.umulh.2(
// NARROW:      add i64 %{{\S+}}, 2
builtin.module attributes {kernel.vector_bits = 512 : i64} {
kernel.func @"a b"(%x : !kernel.buffer<i64>, %n : i64) lanes [8] grid 1 {
  %l = kernel.lane_id 0
  %m = arith.cmpi ult, %l, %n : i64
  %v = kernel.load %x[%l] mask %m : !kernel.buffer<i64> -> i64
  %low, %high = arith.mului_extended %v, %v : i64
  %r = arith.minui %low, %high : i64
  kernel.store %r, %x[%l] mask %m : i64, !kernel.buffer<i64>
  kernel.return
}
}
