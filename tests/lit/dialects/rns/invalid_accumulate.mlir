// RUN: not fhelium-opt %s --split-input-file > %t.out 2> %t.err
// RUN: filecheck %s < %t.err

// CHECK: invalid_accumulate.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: rns.accumulate: needs the evaluation domain
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>, %f : !rns.poly<8192, q 0:2 p 0:1, digits = complement(1), evaluation(bit_reversed)>, %k : !rns.poly<8192, q 0:3 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2 p 0:1, components = 2, evaluation(bit_reversed)>) {
  %r = rns.accumulate %x, %f, %k : !rns.poly<8192, q 0:2, coefficient>, !rns.poly<8192, q 0:2 p 0:1, digits = complement(1), evaluation(bit_reversed)>, !rns.poly<8192, q 0:3 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2 p 0:1, components = 2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_accumulate.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: rns.accumulate: `own` is one component without digits
func.func @f(%x : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>, %f : !rns.poly<8192, q 0:2 p 0:1, digits = complement(1), evaluation(bit_reversed)>, %k : !rns.poly<8192, q 0:3 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2 p 0:1, components = 2, evaluation(bit_reversed)>) {
  %r = rns.accumulate %x, %f, %k : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>, !rns.poly<8192, q 0:2 p 0:1, digits = complement(1), evaluation(bit_reversed)>, !rns.poly<8192, q 0:3 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2 p 0:1, components = 2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_accumulate.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: rns.accumulate: `converted` has complement digits
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, %f : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, %k : !rns.poly<8192, q 0:3 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2 p 0:1, components = 2, evaluation(bit_reversed)>) {
  %r = rns.accumulate %x, %f, %k : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, !rns.poly<8192, q 0:3 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2 p 0:1, components = 2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_accumulate.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: rns.accumulate: the key must have digits of the same size
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, %f : !rns.poly<8192, q 0:2 p 0:1, digits = complement(1), evaluation(bit_reversed)>, %k : !rns.poly<8192, q 0:3 p 0:1, components = 2, digits = key(2), evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2 p 0:1, components = 2, evaluation(bit_reversed)>) {
  %r = rns.accumulate %x, %f, %k : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, !rns.poly<8192, q 0:2 p 0:1, digits = complement(1), evaluation(bit_reversed)>, !rns.poly<8192, q 0:3 p 0:1, components = 2, digits = key(2), evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2 p 0:1, components = 2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_accumulate.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: rns.accumulate: the bases do not fit together
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, %f : !rns.poly<8192, q 0:2 p 0:1, digits = complement(1), evaluation(bit_reversed)>, %k : !rns.poly<8192, q 0:1 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2 p 0:1, components = 2, evaluation(bit_reversed)>) {
  %r = rns.accumulate %x, %f, %k : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, !rns.poly<8192, q 0:2 p 0:1, digits = complement(1), evaluation(bit_reversed)>, !rns.poly<8192, q 0:1 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2 p 0:1, components = 2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_accumulate.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: rns.accumulate: `own` and `converted` have different exponents
func.func @f(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 1)>, %f : !rns.poly<8192, q 0:2 p 0:1, digits = complement(1), evaluation(bit_reversed), mont64(e = 0, below = 4)>, %k : !rns.poly<8192, q 0:3 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2 p 0:1, components = 2, evaluation(bit_reversed)>) {
  %r = rns.accumulate %x, %f, %k : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 1)>, !rns.poly<8192, q 0:2 p 0:1, digits = complement(1), evaluation(bit_reversed), mont64(e = 0, below = 4)>, !rns.poly<8192, q 0:3 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2 p 0:1, components = 2, evaluation(bit_reversed)>
}

// CHECK-NOT: error:
