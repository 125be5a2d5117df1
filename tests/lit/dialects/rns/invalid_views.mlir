// RUN: not fhelium-opt %s --split-input-file > %t.out 2> %t.err
// RUN: filecheck %s < %t.err

// CHECK: invalid_views.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'rns.restrict': q 0:3 is no part of the operand's basis q 0:2
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:3, evaluation(bit_reversed)>) {
  %r = rns.restrict %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)> -> !rns.poly<8192, q 0:3, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:3, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_views.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'rns.restrict': a view cannot change the domain
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:1, coefficient>) {
  %r = rns.restrict %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)> -> !rns.poly<8192, q 0:1, coefficient>
  return %r : !rns.poly<8192, q 0:1, coefficient>
}

// -----

// CHECK: invalid_views.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'rns.restrict': a view cannot change the below
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 4)>) -> (!rns.poly<8192, q 0:1, evaluation(bit_reversed), mont64(e = 0, below = 1)>) {
  %r = rns.restrict %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 4)> -> !rns.poly<8192, q 0:1, evaluation(bit_reversed), mont64(e = 0, below = 1)>
  return %r : !rns.poly<8192, q 0:1, evaluation(bit_reversed), mont64(e = 0, below = 1)>
}

// -----

// CHECK: invalid_views.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'rns.restrict': a bundle with digits has no limb views
func.func @f(%x : !rns.poly<8192, q 0:2, digits = own(1), coefficient>) -> (!rns.poly<8192, q 0:2, digits = own(1), coefficient>) {
  %r = rns.restrict %x : !rns.poly<8192, q 0:2, digits = own(1), coefficient> -> !rns.poly<8192, q 0:2, digits = own(1), coefficient>
  return %r : !rns.poly<8192, q 0:2, digits = own(1), coefficient>
}

// -----

// CHECK: invalid_views.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: rns.extract: components 1 to 2 are not among the operand's 2
func.func @f(%x : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
  %r = rns.extract %x {first = 1 : i64, count = 2 : i64} : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_views.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: rns.pad: cannot pad to 4 components
func.func @f(%x : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>) {
  %r = rns.pad %x {components = 4 : i64} : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_views.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: rns.pack: packs one to three components
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
  %r = rns.pack %x, %x, %x, %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_views.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: rns.pack: the operands have one component each
func.func @f(%x : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>) {
  %r = rns.pack %x, %x : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_views.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: rns.digits: needs one component over primes of q and a size
func.func @f(%x : !rns.poly<8192, q 0:2, digits = own(1), coefficient>) -> (!rns.poly<8192, q 0:2, digits = own(1), coefficient>) {
  %r = rns.digits %x {size = 1 : i64} : !rns.poly<8192, q 0:2, digits = own(1), coefficient>
  return %r : !rns.poly<8192, q 0:2, digits = own(1), coefficient>
}

// -----

// CHECK: invalid_views.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: rns.automorphism: 4 is not an odd number below 16384
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
  %r = rns.automorphism %x {galois = 4 : i64} : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_views.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: rns.automorphism: 16385 is not an odd number below 16384
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
  %r = rns.automorphism %x {galois = 16385 : i64} : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// CHECK-NOT: error:
