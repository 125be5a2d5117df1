// RUN: fhelium-opt %s -t triton | filecheck %s

// Imports once, a comment with the symbol, types that make one binary, one cast per argument.
// CHECK{LITERAL}: import triton
// CHECK-NEXT{LITERAL}: import triton.language as tl
// CHECK-NOT: import
// CHECK{LITERAL}: # kernel.func @"copy"
// CHECK-NEXT{LITERAL}: # lanes [64, 2], grid of rank 2, 4 warps
// CHECK-NEXT{LITERAL}: @triton.jit(do_not_specialize=["n"])
// CHECK-NEXT{LITERAL}: def copy(x: "*u32", y: "*u64", n: "u64"):
// CHECK-NEXT{LITERAL}:     x = x.to(tl.pointer_type(tl.uint32))
// CHECK-NEXT{LITERAL}:     y = y.to(tl.pointer_type(tl.uint64))
// CHECK-NEXT{LITERAL}:     n = n.to(tl.uint64)
// CHECK-NOT: import
// CHECK{LITERAL}: # lanes [], grid of rank 1, 2 warps
// CHECK-NEXT{LITERAL}: @triton.jit
// CHECK-NEXT{LITERAL}: def nothing():
// CHECK-NEXT{LITERAL}:     pass
kernel.func @copy(%x : !kernel.buffer<i32>, %y : !kernel.buffer<i64>, %n : i64) lanes [64, 2] grid 2 {
  kernel.return
}
kernel.func @nothing() lanes [] grid 1 attributes {num_warps = 2 : i64} {
  kernel.return
}
