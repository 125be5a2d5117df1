// RUN: not fhelium-opt %s --split-input-file > %t.out 2> %t.err
// RUN: filecheck %s < %t.err

// CHECK: invalid_attributes.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ntt.schedule: a kernel has one or two groups of one to five stages
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
  %r = ntt.forward %x {schedule = #ntt.schedule<kernels = [[4, 3, 3], [3]], rows = 1, columns = 8, warps = 4>} : !rns.poly<8192, q 0:2, coefficient>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_attributes.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ntt.schedule: the second group cannot be the larger one
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
  %r = ntt.forward %x {schedule = #ntt.schedule<kernels = [[3, 4], [3, 3]], rows = 1, columns = 8, warps = 4>} : !rns.poly<8192, q 0:2, coefficient>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_attributes.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ntt.schedule: needs at least one kernel
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
  %r = ntt.forward %x {schedule = #ntt.schedule<kernels = [], rows = 1, columns = 8, warps = 4>} : !rns.poly<8192, q 0:2, coefficient>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_attributes.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ntt.schedule: rows = 3 is not a power of two
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
  %r = ntt.forward %x {schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 3, columns = 8, warps = 4>} : !rns.poly<8192, q 0:2, coefficient>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_attributes.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ntt.schedule: columns = 12 is not a power of two
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
  %r = ntt.forward %x {schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 12, warps = 4>} : !rns.poly<8192, q 0:2, coefficient>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_attributes.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ntt.schedule: warps = 3 is not 1, 2, 4, 8 or 16
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
  %r = ntt.forward %x {schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 8, warps = 3>} : !rns.poly<8192, q 0:2, coefficient>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_attributes.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: intervals are at least 1
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
  %r = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 0, output = 4, exponent = 0>} : !rns.poly<8192, q 0:2, coefficient>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_attributes.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: Expected one of 'bit_reversed'
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
  %r = ntt.forward %x {contract = #ntt.contract<natural, input = 4, output = 4, exponent = 0>} : !rns.poly<8192, q 0:2, coefficient>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_attributes.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ntt.schedule: table_stages = -1 is negative
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
  %r = ntt.forward %x {schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, table_stages = -1>} : !rns.poly<8192, q 0:2, coefficient>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// -----

// The group from stage 2 on would need factors of stage 2.
// CHECK: invalid_attributes.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ntt.schedule: table_stages = 2 is too small for a group of 4 stages
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
  %r = ntt.forward %x {schedule = #ntt.schedule<kernels = [[2], [4, 4], [3]], rows = 1, columns = 8, warps = 4, table_stages = 2>} : !rns.poly<8192, q 0:2, coefficient>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// -----

// CHECK: invalid_attributes.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: Expected one of 'converted_rows', 'shoup', 'table_stages'
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
  %r = ntt.forward %x {schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, stages = 7>} : !rns.poly<8192, q 0:2, coefficient>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// CHECK-NOT: error:
