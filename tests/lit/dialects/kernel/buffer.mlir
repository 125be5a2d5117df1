// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK: func.func private @f() -> (!kernel.buffer<i32>, !kernel.buffer<i64>)
// GENERIC: function_type = () -> (!kernel.buffer<i32>, !kernel.buffer<i64>)
func.func private @f() -> (!kernel.buffer<i32>, !kernel.buffer<i64>)
