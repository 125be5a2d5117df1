// RUN: fhelium-opt %s -t triton > %t.py
// RUN: filecheck %s < %t.py
// RUN: %python -m py_compile %t.py

// One multiply-add for both kernels: Triton's own, and one for its interpreter, which would round twice.
// CHECK{LITERAL}: import triton.language as tl
// CHECK{LITERAL}: def fused_fma(x, y, z):
// CHECK-NEXT{LITERAL}:     return tl.fma(x, y, z)
// CHECK{LITERAL}: def exact_fma(x, y, z):
// CHECK{LITERAL}: fma = fused_fma if isinstance(fused_fma, triton.JITFunction) else exact_fma
// CHECK-NOT: fma =
// Constants have a type, as a literal would be a number of 32 bits, and all their digits.
// CHECK{LITERAL}: def k(x: "*fp64", y: "*u64", n: "u64"):
// CHECK-NEXT{LITERAL}:     x = x.to(tl.pointer_type(tl.float64))
// CHECK{LITERAL}:     magic = tl.full((), 6755399441055744.0, tl.float64)
// CHECK-NEXT{LITERAL}:     third = tl.full((), 0.3333333333333333, tl.float64)
// CHECK-NEXT{LITERAL}:     nothing = tl.full((), 9223372036854775808, tl.uint64).to(tl.float64, bitcast=True)
// CHECK{LITERAL}:     a = tl.load(x + l, mask=inside, other=0.0)
// CHECK-NEXT{LITERAL}:     b = fma(a, third, magic)
// CHECK-NEXT{LITERAL}:     fma_1 = b - magic
// CHECK-NEXT{LITERAL}:     c = fma_1 + nothing
// CHECK-NEXT{LITERAL}:     d = c * c
// CHECK-NEXT{LITERAL}:     tile = tl.join(tl.broadcast_to(c, [2, 4]), tl.broadcast_to(d, [2, 4]))
// CHECK{LITERAL}:     g = e < third
// CHECK-NEXT{LITERAL}:     h = tl.where(g, e, f)
// CHECK-NEXT{LITERAL}:     s = tl.broadcast_to(third, [2, 4])
// CHECK{LITERAL}:         t = s + h
// CHECK-NEXT{LITERAL}:         s = t
// CHECK-NEXT{LITERAL}:     o = s.to(tl.uint64, bitcast=True)
// CHECK-NEXT{LITERAL}:     p = o.to(tl.float64, bitcast=True)
// A kernel cannot hide the function.
// CHECK{LITERAL}: def _x66_ma(x: "*fp64"):
// CHECK{LITERAL}:     b = fma(a, a, a)
kernel.func @k(%x : !kernel.buffer<f64>, %y : !kernel.buffer<i64>, %n : i64) lanes [2, 4] grid 1 {
  %magic = arith.constant 6755399441055744.0 : f64
  %third = arith.constant 0x3fd5555555555555 : f64
  %nothing = arith.constant -0.0 : f64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %l = kernel.lane_id 1
  %inside = arith.cmpi ult, %l, %n : i64
  %a = kernel.load %x[%l] mask %inside : !kernel.buffer<f64> -> f64
  %b = math.fma %a, %third, %magic : f64
  %fma = arith.subf %b, %magic : f64
  %c = arith.addf %fma, %nothing : f64
  %d = arith.mulf %c, %c : f64
  %e, %f = kernel.exchange %c, %d axis 0 : f64, f64 -> f64, f64
  %g = arith.cmpf olt, %e, %third : f64
  %h = arith.select %g, %e, %f : f64
  %i = scf.for %j = %zero to %n step %one iter_args(%s = %third) -> (f64) : i64 {
    %t = arith.addf %s, %h : f64
    scf.yield %t : f64
  }
  %o = arith.bitcast %i : f64 to i64
  %p = arith.bitcast %o : i64 to f64
  kernel.store %o, %y[%l] mask %inside : i64, !kernel.buffer<i64>
  kernel.store %p, %x[%l] mask %inside : f64, !kernel.buffer<f64>
  kernel.return
}

kernel.func @fma(%x : !kernel.buffer<f64>) lanes [1] grid 1 {
  %zero = arith.constant 0 : i64
  %a = kernel.load %x[%zero] : !kernel.buffer<f64> -> f64
  %b = math.fma %a, %a, %a : f64
  kernel.store %b, %x[%zero] : f64, !kernel.buffer<f64>
  kernel.return
}
