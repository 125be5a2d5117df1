// RUN: not fhelium-opt %s --split-input-file > %t.out 2> %t.err
// RUN: filecheck %s < %t.err

// CHECK: invalid_base_convert.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'rns.base_convert': needs the coefficient domain
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> (!rns.poly<8192, p 0:2, coefficient>) {
  %r = rns.base_convert %x {lift = "canonical", correction = "nearest"} : !rns.poly<8192, q 0:2, evaluation(bit_reversed)> -> !rns.poly<8192, p 0:2, coefficient>
  return %r : !rns.poly<8192, p 0:2, coefficient>
}

// -----

// CHECK: invalid_base_convert.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'rns.base_convert': the operand must be reduced, with exponent 0
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient, mont64(e = 0, below = 2)>) -> (!rns.poly<8192, p 0:2, coefficient>) {
  %r = rns.base_convert %x {lift = "canonical", correction = "nearest"} : !rns.poly<8192, q 0:2, coefficient, mont64(e = 0, below = 2)> -> !rns.poly<8192, p 0:2, coefficient>
  return %r : !rns.poly<8192, p 0:2, coefficient>
}

// -----

// CHECK: invalid_base_convert.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'rns.base_convert': the operand must be reduced, with exponent 0
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient, mont64(e = 1, below = 1)>) -> (!rns.poly<8192, p 0:2, coefficient>) {
  %r = rns.base_convert %x {lift = "canonical", correction = "nearest"} : !rns.poly<8192, q 0:2, coefficient, mont64(e = 1, below = 1)> -> !rns.poly<8192, p 0:2, coefficient>
  return %r : !rns.poly<8192, p 0:2, coefficient>
}

// -----

// CHECK: invalid_base_convert.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'rns.base_convert': lift and correction must be centred and none, or canonical and nearest, found centred and nearest
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) -> (!rns.poly<8192, p 0:2, coefficient>) {
  %r = rns.base_convert %x {lift = "centred", correction = "nearest"} : !rns.poly<8192, q 0:2, coefficient> -> !rns.poly<8192, p 0:2, coefficient>
  return %r : !rns.poly<8192, p 0:2, coefficient>
}

// -----

// CHECK: invalid_base_convert.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'rns.base_convert': source and target bases must be disjoint
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) -> (!rns.poly<8192, q 1:3, coefficient>) {
  %r = rns.base_convert %x {lift = "canonical", correction = "nearest"} : !rns.poly<8192, q 0:2, coefficient> -> !rns.poly<8192, q 1:3, coefficient>
  return %r : !rns.poly<8192, q 1:3, coefficient>
}

// -----

// CHECK: invalid_base_convert.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'rns.base_convert': digits convert to their complement
func.func @f(%x : !rns.poly<8192, q 0:2, digits = own(1), coefficient>) -> (!rns.poly<8192, q 0:2, coefficient>) {
  %r = rns.base_convert %x {lift = "centred", correction = "none"} : !rns.poly<8192, q 0:2, digits = own(1), coefficient> -> !rns.poly<8192, q 0:2, coefficient>
  return %r : !rns.poly<8192, q 0:2, coefficient>
}

// -----

// CHECK: invalid_base_convert.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'rns.base_convert': domain and components cannot change
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) -> (!rns.poly<8192, p 0:1, evaluation(bit_reversed)>) {
  %r = rns.base_convert %x {lift = "canonical", correction = "nearest"} : !rns.poly<8192, q 0:2, coefficient> -> !rns.poly<8192, p 0:1, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, p 0:1, evaluation(bit_reversed)>
}

// CHECK-NOT: error:
