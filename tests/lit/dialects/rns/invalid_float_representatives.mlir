// RUN: not fhelium-opt %s --split-input-file > %t.out 2> %t.err
// RUN: filecheck %s < %t.err

// CHECK: invalid_float_representatives.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: rns.poly: words of int64 are canonical, below 1
func.func private @f(!rns.poly<16, q 0:1, coefficient, int64(e = 0, below = 2)>)

// -----

// CHECK: invalid_float_representatives.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: rns.poly: words of int64 have exponent 0
func.func private @f(!rns.poly<16, q 0:1, coefficient, int64(e = 1, below = 1)>)

// -----

// CHECK: invalid_float_representatives.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: rns.poly: words of fp64 have exponent 0
func.func private @f(!rns.poly<16, q 0:1, coefficient, fp64(e = 1, below = 1)>)

// -----

!f = !rns.poly<16, q 0:1, coefficient, fp64(e = 0, below = 2)>
!m = !rns.poly<16, q 0:1, coefficient, mont64(e = 0, below = 1)>
func.func @f(%x : !f) {
  // CHECK: invalid_float_representatives.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'rns.set_representative': fp64 does not become mont64
  %r = rns.set_representative %x : !f -> !m
  return
}

// -----

!i = !rns.poly<16, q 0:1, coefficient, int64(e = 0, below = 1)>
!m = !rns.poly<16, q 0:1, coefficient, mont64(e = 0, below = 1)>
func.func @f(%x : !m) {
  // CHECK: invalid_float_representatives.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'rns.set_representative': the result's arithmetic does not follow from the operands
  %r = rns.set_representative %x : !m -> !i
  return
}

// -----

!i = !rns.poly<16, q 0:1, evaluation(bit_reversed), int64(e = 0, below = 1)>
func.func @f(%x : !i) {
  // CHECK: invalid_float_representatives.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: rns.mul: words of int64 are only converted, by rns.set_representative
  %r = rns.mul %x, %x : !i
  return
}

// -----

!i = !rns.poly<16, q 0:1, evaluation(bit_reversed), int64(e = 0, below = 1)>
!f = !rns.poly<16, q 0:1, evaluation(bit_reversed), fp64(e = 0, below = 2)>
func.func @f(%x : !i, %y : !f) {
  // CHECK: invalid_float_representatives.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: rns.add: words of int64 are only converted, by rns.set_representative
  %r = rns.add %x, %y : !i, !f
  return
}

// -----

!i = !rns.poly<16, q 0:1, coefficient, int64(e = 0, below = 1)>
func.func @f(%x : !i) {
  // CHECK: invalid_float_representatives.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: ntt.forward: words of int64 are only converted, by rns.set_representative
  %r = ntt.forward %x : !i
  return
}

// -----

!i = !rns.poly<16, q 0:1, coefficient, int64(e = 0, below = 1)>
func.func @f(%x : !i) {
  // CHECK: invalid_float_representatives.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: rns.mul_constant: words of int64 are only converted, by rns.set_representative
  %r = rns.mul_constant %x {constant = #rns.constant<inverse p 0:1>} : !i
  return
}

// -----

!i = !rns.poly<16, q 0:1, coefficient, int64(e = 0, below = 1)>
func.func @f(%x : !i) {
  // CHECK: invalid_float_representatives.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: rns.poly: words of int64 are canonical, below 1
  %r = rns.automorphism %x {galois = 5} : !i
  return
}
// CHECK-NOT: error:
