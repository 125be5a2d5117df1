// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// CHECK: resource.declare @relin "relinearization_key"{{$}}
// CHECK: resource.declare @turn "galois_key" {galois = 5 : i64, exponent = 1 : i64} : memref<2x2x3x8192xi64>
// CHECK: resource.declare @weights "plaintext" {values = dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf64>, level = 1 : i64, scale = "1099511627776/1"}
// CHECK: resource.declare @rows "rows" {values = dense<{{\[\[}}0, 1], [2, 3]]> : tensor<2x2xi32>} : memref<2x2xi32>
resource.declare @relin "relinearization_key"
resource.declare @turn "galois_key" {galois = 5 : i64, exponent = 1 : i64} : memref<2x2x3x8192xi64>
resource.declare @weights "plaintext" {values = dense<[1.0, -2.0]> : tensor<2xf64>, level = 1 : i64, scale = "1099511627776/1"}
resource.declare @rows "rows" {values = dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>} : memref<2x2xi32>

// A symbol may be any string.
// CHECK: resource.declare @"a'); import os #" "moduli"
resource.declare @"a'); import os #" "moduli"

// Of groups that compute their twiddle factors a table has less.
// CHECK: resource.declare @factors "twiddles" {direction = "forward", groups = array<i64: 4, 3, 3, 3>, table_stages = 7 : i64} : memref<3x1280xf64>
resource.declare @factors "twiddles" {direction = "forward", groups = array<i64: 4, 3, 3, 3>, table_stages = 7 : i64} : memref<3x1280xf64>
