// RUN: not fhelium-opt %s --split-input-file > %t.out 2> %t.err
// RUN: filecheck %s < %t.err

// CHECK: invalid_mixed_representatives.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: words of fp64 have exponent 0
func.func private @f(!rns.poly<16, q 0:1, coefficient, mont64(e = 1, below = 1) fp64(e = 1, below = 1)>)

// -----

// CHECK: invalid_mixed_representatives.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: rns.poly: `below` is at least 1
func.func private @f(!rns.poly<16, q 0:1, coefficient, mont64(e = 1, below = 1) fp64(e = 0, below = 0)>)

// -----

// Words of 32 bits are not mixed with others.
// CHECK: invalid_mixed_representatives.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: '>' expected
func.func private @f(!rns.poly<16, q 0:1, coefficient, mont32(e = 1, below = 1) fp64(e = 0, below = 1)>)

// -----

// CHECK: invalid_mixed_representatives.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error:
module attributes {rns.arithmetic = #rns.arithmetic<mixed32>} {
}

// -----

!m = !rns.poly<16, q 0:1, coefficient, mont64(e = 0, below = 1)>
!b = !rns.poly<16, q 0:1, coefficient, mont64(e = 0, below = 1) fp64(e = 0, below = 2)>
func.func @f(%x : !b) {
  // CHECK: invalid_mixed_representatives.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'rns.set_representative': mixed64 does not become mont64
  %r = rns.set_representative %x : !b -> !m
  return
}

// -----

!b = !rns.poly<16, q 0:1, coefficient, mont64(e = 0, below = 1) fp64(e = 0, below = 2)>
!c = !rns.poly<16, p 0:1, coefficient, mont64(e = 0, below = 1) fp64(e = 0, below = 2)>
func.func @f(%x : !b) {
  // CHECK: invalid_mixed_representatives.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'rns.base_convert': the operand must be reduced, with exponent 0
  %r = rns.base_convert %x {lift = "centred", correction = "none"} : !b -> !c
  return
}
// CHECK-NOT: error:
