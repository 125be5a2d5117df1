// RUN: not fhelium-opt %s -t llvm 2>&1 | filecheck %s

// CHECK: errors.mlir:7:{{[0-9]+}}: error: kernel.exchange in a loop whose bounds depend on the lane is not supported on the cpu target
kernel.func @f(%x : !kernel.buffer<i64>) lanes [2] grid 1 {
  %l = kernel.lane_id 0
  %one = arith.constant 1 : i64
  %r = scf.for %j = %one to %l step %one iter_args(%u = %one) -> (i64) : i64 {
    %e0, %e1 = kernel.exchange %u, %l axis 0 : i64, i64 -> i64, i64
    scf.yield %e0 : i64
  }
  kernel.store %r, %x[%l] : i64, !kernel.buffer<i64>
  kernel.return
}
