// RUN: fhelium-opt %s -p convert-kernels-to-llvm | filecheck %s

// Two segments around the exchange. What depends on the program only stands outside of the lane
// loops, what depends on lane axis 0 only in the outer one; the inner one is marked.

// CHECK-LABEL: llvm.func @transpose(
// CHECK-SAME:  [[BEGIN:%\S+]]: i64, [[END:%\S+]]: i64, [[G0:%\S+]]: i64, %{{\S+}}: i64, %{{\S+}}: i64,
// CHECK-SAME:  [[X:%\S+]]: !llvm.ptr, [[W:%\S+]]: !llvm.ptr, [[Y:%\S+]]: !llvm.ptr, [[N:%\S+]]: i64)
// CHECK:       [[ARRAY:%\S+]] = llvm.alloca %{{\S+}} x i64

// Programs.
// CHECK:       llvm.br ^[[PROGRAM:bb[0-9]+]]([[BEGIN]] : i64)
// CHECK:       ^[[PROGRAM]]([[P:%\S+]]: i64):
// CHECK-NEXT:  llvm.icmp "slt" [[P]], [[END]] : i64
// CHECK:       [[ID:%\S+]] = llvm.urem [[P]], [[G0]] : i64
// CHECK:       [[BASE:%\S+]] = llvm.mul [[ID]], [[N]] : i64

// First segment.
// CHECK:       ^[[OUTER:bb[0-9]+]]([[A:%\S+]]: i64):
// CHECK:       [[PW:%\S+]] = llvm.getelementptr inbounds [[W]]{{\[}}[[A]]]
// CHECK-NEXT:  llvm.load [[PW]] : !llvm.ptr -> i64
// CHECK:       ^[[INNER:bb[0-9]+]]([[B:%\S+]]: i64):
// CHECK:       llvm.getelementptr inbounds [[X]]
// CHECK:       llvm.getelementptr inbounds [[ARRAY]]
// CHECK:       llvm.store
// CHECK:       llvm.getelementptr inbounds [[ARRAY]][1] : (!llvm.ptr) -> !llvm.ptr, !llvm.array<8 x i64>
// CHECK:       llvm.store
// CHECK:       llvm.cond_br %{{\S+}}, ^[[INNER]](%{{\S+}} : i64), ^{{\S+}} {fhelium.lane_loop}
// CHECK:       llvm.cond_br %{{\S+}}, ^[[OUTER]](%{{\S+}} : i64), ^bb{{[0-9]+$}}

// Second segment.
// CHECK-NOT:   llvm.getelementptr inbounds [[X]]
// CHECK:       llvm.getelementptr inbounds [[ARRAY]]
// CHECK-NEXT:  llvm.load
// CHECK:       llvm.getelementptr inbounds [[Y]]
// CHECK:       {fhelium.lane_loop}
// CHECK:       llvm.br ^[[PROGRAM]](
// CHECK:       llvm.return
kernel.func @transpose(%x : !kernel.buffer<i64>, %w : !kernel.buffer<i64>, %y : !kernel.buffer<i64>, %n : i64) lanes [2, 4] grid 1 {
  %p = kernel.program_id 0
  %base = arith.muli %p, %n : i64
  %a = kernel.lane_id 0
  %b = kernel.lane_id 1
  %c2 = arith.constant 2 : i64
  %c4 = arith.constant 4 : i64
  %a4 = arith.shli %a, %c2 : i64
  %ab = arith.addi %a4, %b : i64
  %i = arith.addi %base, %ab : i64
  %s = kernel.load %w[%a] : !kernel.buffer<i64> -> i64
  %v = kernel.load %x[%i] : !kernel.buffer<i64> -> i64
  %vs = arith.addi %v, %s : i64
  %e0, %e1 = kernel.exchange %v, %vs axis 0 : i64, i64 -> i64, i64
  kernel.store %e0, %y[%i] : i64, !kernel.buffer<i64>
  kernel.return
}
