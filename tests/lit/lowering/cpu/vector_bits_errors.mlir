// RUN: not fhelium-opt %s -t llvm 2>&1 | filecheck %s

// CHECK: error: `kernel.vector_bits` must be a power of two from 64 to 2048
builtin.module attributes {kernel.vector_bits = 100 : i64} {}
