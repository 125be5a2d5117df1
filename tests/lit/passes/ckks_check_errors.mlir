// RUN: not fhelium-opt %s --split-input-file -p ckks-check 2>&1 | filecheck %s

// log2(P*Q) = 120 is above the 106 bits of ring degree 4096.
// CHECK: ckks_check_errors.mlir:[[# @LINE + 1]]:1: error: parameters are insecure: log2(P*Q) = 120.00 is above 106, the 128-bit limit of ring degree 4096; {{.*}}
module attributes {ckks.params = #ckks.params<ring_degree = 4096, q = [1152921504606748673], p = [1152921504606830593], digits = 1, scale = 2**40, secret = ternary>} {
}

// -----

// No limit is known for tiny rings.
// CHECK: ckks_check_errors.mlir:[[# @LINE + 1]]:1: error: no 128-bit security limit is known for ring degree 16; {{.*}}
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [97, 193], p = [257], digits = 2, scale = 2**5, secret = ternary>} {
}

// -----

// Parameters are needed.
// CHECK: ckks_check_errors.mlir:[[# @LINE + 1]]:1: error: the module has no attribute `ckks.params = #ckks.params<...>`
module {
}

// -----

// A fact is absent.
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [97, 193], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {
// CHECK: ckks_check_errors.mlir:[[# @LINE + 1]]:1: error: argument 0 of @f has no level: write it, or run ckks-manage first
func.func @f(%x : !ckks.ciphertext) {
  return
}
}

// -----

// A scale is absent.
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [97, 193], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {
// CHECK: ckks_check_errors.mlir:[[# @LINE + 1]]:1: error: argument 1 of @f has no scale: write it, or run ckks-manage first
func.func @f(%x : !ckks.ciphertext<level = 0, scale = 2**5>, %y : !ckks.plaintext<level = 0>) {
  return
}
}

// -----

// The constant was never given a level.
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [97, 193], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {
func.func @f() {
  %v = arith.constant dense<0.5> : tensor<1xf64>
// CHECK: ckks_check_errors.mlir:[[# @LINE + 1]]:8: error: ckks.encode: the result has no level: write it, or run ckks-manage first
  %p = ckks.encode %v : tensor<1xf64> -> !ckks.plaintext<scale = 2**5>
  return
}
}

// -----

// The chain has two primes: levels 0 and 1.
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [97, 193], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {
// CHECK: ckks_check_errors.mlir:[[# @LINE + 1]]:1: error: argument 0 of @f has level 2, but the top level of 2 primes is 1
func.func @f(%x : !ckks.ciphertext<level = 2, scale = 2**5>) {
  return
}
}

// -----

// The scale names a prime that does not exist.
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [97, 193], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {
// CHECK: ckks_check_errors.mlir:[[# @LINE + 1]]:1: error: argument 0 of @f has scale 2**5 / q2, but the last prime is q1
func.func @f(%x : !ckks.ciphertext<level = 0, scale = 2**5 / q2>) {
  return
}
}

// -----

// Nothing brings a program value to the coefficient domain.
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [97, 193], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {
// CHECK: ckks_check_errors.mlir:[[# @LINE + 1]]:1: error: argument 0 of @f is in the coefficient domain; the program stage computes in the evaluation domain
func.func @f(%x : !ckks.ciphertext<level = 0, scale = 2**5, domain = coefficient>) {
  return
}
}

// -----

// Arguments are encrypted or encoded.
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [97, 193], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {
// CHECK: ckks_check_errors.mlir:[[# @LINE + 1]]:1: error: argument 0 of @f must be a ciphertext or a plaintext, found i32
func.func @f(%x : i32) {
  return
}
}

// -----

// Three numbers do not fill eight slots.
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [97, 193], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {
func.func @f() {
  %v = arith.constant dense<0.5> : tensor<3xf64>
// CHECK: ckks_check_errors.mlir:[[# @LINE + 1]]:8: error: ckks.encode: the length 3 does not divide the slot count 8
  %p = ckks.encode %v : tensor<3xf64> -> !ckks.plaintext<level = 0, scale = 2**5>
  return
}
}

// -----

// A NaN cannot be encoded.
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [97, 193], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {
func.func @f() {
  %v = arith.constant dense<"0x000000000000E03F000000000000F87F"> : tensor<2xf64>
// CHECK: ckks_check_errors.mlir:[[# @LINE + 1]]:8: error: ckks.encode: value 1 is nan
  %p = ckks.encode %v : tensor<2xf64> -> !ckks.plaintext<level = 0, scale = 2**5>
  return
}
}

// -----

// What is encoded is part of the program.
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [97, 193], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {
func.func @f() {
// CHECK: ckks_check_errors.mlir:[[# @LINE + 1]]:12: error: op 'test.op' is not part of the program stage
  %v, %w = "test.op"() : () -> (tensor<2xf64>, i32)
  %p = ckks.encode %v : tensor<2xf64> -> !ckks.plaintext<level = 0, scale = 2**5>
  return
}
}

// -----

// Arithmetic on machine words is not part of a program.
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [97, 193], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {
func.func @f() {
  %v = arith.constant 1 : i32
// CHECK: ckks_check_errors.mlir:[[# @LINE + 1]]:8: error: op 'arith.addi' is not part of the program stage
  %w = arith.addi %v, %v : i32
  return
}
}

// -----

// Modules do not nest.
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [97, 193], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {
// CHECK: ckks_check_errors.mlir:[[# @LINE + 1]]:1: error: op 'builtin.module' is not part of the program stage
module {
}
}

// -----

// A function has a body.
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [97, 193], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {
// CHECK: ckks_check_errors.mlir:[[# @LINE + 1]]:1: error: function @g must have one block
func.func private @g() -> ()
}

// -----

// A range is positive.
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [97, 193], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {
// CHECK: ckks_check_errors.mlir:[[# @LINE + 1]]:1: error: argument 0 of @f: ckks.range must be a positive finite float such as `2.0 : f64`, found -1.000000e+00 : f64
func.func @f(%x : !ckks.ciphertext<level = 0, scale = 2**5> {ckks.range = -1.0 : f64}) {
  return
}
}

// -----

// A range is a float.
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [97, 193], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {
// CHECK: ckks_check_errors.mlir:[[# @LINE + 1]]:1: error: argument 1 of @f: ckks.range must be a positive finite float such as `2.0 : f64`, found 2 : i64
func.func @f(%x : !ckks.ciphertext<level = 0, scale = 2**5>, %y : !ckks.ciphertext<level = 0, scale = 2**5> {ckks.range = 2 : i64}) {
  return
}
}

// -----

// A logical vector divides the slots.
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [97, 193], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {
// CHECK: ckks_check_errors.mlir:[[# @LINE + 1]]:1: error: argument 0 of @f: ckks.slots must be an integer that divides the slot count 8, found 3 : i64
func.func @f(%x : !ckks.ciphertext<level = 0, scale = 2**5> {ckks.slots = 3 : i64}) {
  return
}
}

// -----

// Nor has it more elements than slots.
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [97, 193], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {
// CHECK: ckks_check_errors.mlir:[[# @LINE + 1]]:1: error: argument 0 of @f: ckks.slots must be an integer that divides the slot count 8, found 16 : i64
func.func @f(%x : !ckks.ciphertext<level = 0, scale = 2**5> {ckks.slots = 16 : i64}) {
  return
}
}

// -----

// A plaintext is no result.
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [97, 193], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {
func.func @f(%p : !ckks.plaintext<level = 0, scale = 2**5>) -> !ckks.plaintext<level = 0, scale = 2**5> {
// CHECK: ckks_check_errors.mlir:[[# @LINE + 1]]:3: error: output 0 (%p) of @f must be a ciphertext, found !ckks.plaintext<level = 0, scale = 2**5>
  return %p : !ckks.plaintext<level = 0, scale = 2**5>
}
}

// -----

// Extended ciphertexts stay inside of functions.
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [97, 193], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {
// CHECK: ckks_check_errors.mlir:[[# @LINE + 1]]:1: error: argument 0 of @f is extended: only a ciphertext divided by P crosses the interface of a function
func.func @f(%x : !ckks.ciphertext<level = 0, scale = 2**5, extended>) {
  return
}
}

// -----

module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [97, 193], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {
func.func @f(%x : !ckks.ciphertext<level = 0, scale = 2**5>) -> !ckks.ciphertext<level = 0, scale = 2**5, extended> {
  %e = ckks.extend %x : !ckks.ciphertext<level = 0, scale = 2**5>
// CHECK: ckks_check_errors.mlir:[[# @LINE + 1]]:3: error: output 0 (%e) of @f is extended: only a ciphertext divided by P crosses the interface of a function
  return %e : !ckks.ciphertext<level = 0, scale = 2**5, extended>
}
}
