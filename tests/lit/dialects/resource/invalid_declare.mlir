// RUN: not fhelium-opt %s --split-input-file > %t.out 2> %t.err
// RUN: filecheck %s < %t.err

// CHECK: invalid_declare.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'resource.declare': unknown kind 'rotation_key', expected one of relinearization_key, galois_key
resource.declare @k "rotation_key"

// -----

// CHECK: invalid_declare.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'resource.declare': kind 'galois_key' lacks galois
resource.declare @k "galois_key"

// -----

// CHECK: invalid_declare.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'resource.declare': kind 'moduli' does not take exponent
resource.declare @k "moduli" {exponent = 1 : i64}

// -----

// CHECK: invalid_declare.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: expected a memref
resource.declare @k "moduli" : i32

// CHECK-NOT: error:
