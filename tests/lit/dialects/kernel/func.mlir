// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: kernel.func @plain(%x: !kernel.buffer<i64>, %n: i64) lanes [16, 8] grid 2 {
// CHECK-NEXT: kernel.return
// GENERIC: "kernel.func"() <{sym_name = "plain", function_type = (!kernel.buffer<i64>, i64) -> (), lanes = array<i64: 16, 8>, grid_rank = 2 : i64}>
kernel.func @plain(%x : !kernel.buffer<i64>, %n : i64) lanes [16, 8] grid 2 {
  kernel.return
}

// CHECK-LABEL: kernel.func @one_lane() lanes [] grid 1 attributes {num_warps = 1 : i64} {
// CHECK-NEXT: kernel.return
// GENERIC: lanes = array<i64>, grid_rank = 1 : i64
// GENERIC: {num_warps = 1 : i64}
kernel.func @one_lane() lanes [] grid 1 attributes {num_warps = 1 : i64} {
  kernel.return
}

// A symbol may be any string.
// CHECK-LABEL: kernel.func @"a'); import os #"() lanes [2] grid 3 {
kernel.func @"a'); import os #"() lanes [2] grid 3 {
  kernel.return
}
