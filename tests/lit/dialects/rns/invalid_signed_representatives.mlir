// RUN: not fhelium-opt %s --split-input-file > %t.out 2> %t.err
// RUN: filecheck %s < %t.err

// CHECK: invalid_signed_representatives.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: rns.poly: words of int32 are canonical, below 1
func.func private @f(!rns.poly<16, q 0:1, coefficient, int32(e = 0, below = 2)>)

// -----

// CHECK: invalid_signed_representatives.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: rns.poly: words of int32 have exponent 0
func.func private @f(!rns.poly<16, q 0:1, coefficient, int32(e = 1, below = 1)>)

// -----

!s = !rns.poly<16, q 0:1, coefficient, smont32(e = 0, below = 2)>
!i = !rns.poly<16, q 0:1, coefficient, int64(e = 0, below = 1)>
func.func @f(%x : !s) {
  // CHECK: invalid_signed_representatives.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'rns.set_representative': smont32 does not become int64
  %r = rns.set_representative %x : !s -> !i
  return
}

// -----

!s = !rns.poly<16, q 0:1, coefficient, smont32(e = 0, below = 2)>
!m = !rns.poly<16, q 0:1, coefficient, mont32(e = 0, below = 1)>
func.func @f(%x : !s) {
  // CHECK: invalid_signed_representatives.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'rns.set_representative': smont32 does not become mont32
  %r = rns.set_representative %x : !s -> !m
  return
}

// -----

!i = !rns.poly<16, q 0:1, evaluation(bit_reversed), int32(e = 0, below = 1)>
func.func @f(%x : !i) {
  // CHECK: invalid_signed_representatives.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: rns.mul: words of int32 are only converted, by rns.set_representative
  %r = rns.mul %x, %x : !i
  return
}

// -----

!s = !rns.poly<16, q 0:1, evaluation(bit_reversed), smont32(e = 0, below = 2)>
!m = !rns.poly<16, q 0:1, evaluation(bit_reversed), mont32(e = 0, below = 2)>
func.func @f(%x : !s, %y : !m) {
  // CHECK: invalid_signed_representatives.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: rns.add: the operands must have equal arithmetic: the left one has smont32, the right one mont32
  %r = rns.add %x, %y : !s, !m
  return
}
// CHECK-NOT: error:
