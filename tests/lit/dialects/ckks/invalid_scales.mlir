// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

// Zero is no scale.
// CHECK: invalid_scales.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: a scale is positive
func.func private @f() -> !ckks.ciphertext<scale = 0>

// -----

// A quotient by zero is none either.
// CHECK: invalid_scales.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: a scale is positive
func.func private @f() -> !ckks.ciphertext<scale = 2**40 / 0>

// -----

// Exponents are not negative: write a quotient.
// CHECK: invalid_scales.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: Expected integer literal
func.func private @f() -> !ckks.ciphertext<scale = 2**-3>

// -----

// Factors are integers and primes of the chain.
// CHECK: invalid_scales.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: expected an integer or a prime `qI`, found `p0`
func.func private @f() -> !ckks.ciphertext<scale = 2**40 / p0>

// -----

// Primes have short names.
// CHECK: invalid_scales.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: expected an integer or a prime `qI`, found `q`
func.func private @f() -> !ckks.ciphertext<scale = q>

// -----

// A power that nobody can expand is refused.
// CHECK: invalid_scales.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: the power is too large
func.func private @f() -> !ckks.ciphertext<scale = 2**10000000000000000000000000000000000000000>

// -----

// So is that of another integer.
// CHECK: invalid_scales.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: the power is too large
func.func private @f() -> !ckks.ciphertext<scale = 3**40000>

// -----

// Their product has a limit too.
// CHECK: invalid_scales.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: a scale has an exponent beyond 340282366920938463463374607431768211456
func.func private @f() -> !ckks.ciphertext<scale = q1**300000000000000000000000000000000000000 * q1**300000000000000000000000000000000000000>

// -----

// A factor follows an operator.
// CHECK: invalid_scales.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: identifier expected in a scale
func.func private @f() -> !ckks.ciphertext<scale = 2**40 *>
