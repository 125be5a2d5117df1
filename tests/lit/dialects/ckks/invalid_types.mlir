// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

// A level is not negative.
// CHECK: invalid_types.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: a level is at least 0
func.func private @f() -> !ckks.ciphertext<level = -1>

// -----

// A size is 2 or 3.
// CHECK: invalid_types.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: a size is 2 or 3
func.func private @f() -> !ckks.ciphertext<size = 4>

// -----

// A fact is written once.
// CHECK: invalid_types.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: Expected one of 'domain', 'extended', 'scale', 'size'
func.func private @f() -> !ckks.ciphertext<level = 1, level = 1>

// -----

// The facts have names.
// CHECK: invalid_types.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: Expected one of 'domain', 'extended', 'level', 'scale', 'size'
func.func private @f() -> !ckks.ciphertext<depth = 1>

// -----

// The domain is one of two.
// CHECK: invalid_types.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: Expected one of 'coefficient', 'evaluation'
func.func private @f() -> !ckks.ciphertext<domain = frequency>

// -----

// A plaintext has no size.
// CHECK: invalid_types.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: Expected one of 'domain', 'extended', 'level', 'scale'
func.func private @f() -> !ckks.plaintext<size = 2>
