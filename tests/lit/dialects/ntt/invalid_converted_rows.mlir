// RUN: not fhelium-opt %s --split-input-file > %t.out 2> %t.err
// RUN: filecheck %s < %t.err

// CHECK: invalid_converted_rows.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ntt.schedule: converted_rows = 3 is not 1 or 2
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) {
  %r = ntt.forward %x {schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, converted_rows = 3>} : !rns.poly<8192, q 0:2, coefficient>
  return
}

// -----

// CHECK: invalid_converted_rows.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ntt.schedule: converted_rows = 2 takes rows = 1, found 4
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) {
  %r = ntt.forward %x {schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 4, columns = 8, warps = 4, converted_rows = 2>} : !rns.poly<8192, q 0:2, coefficient>
  return
}

// -----

// CHECK: invalid_converted_rows.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'ntt.forward': converted_rows takes words with a sign, the words are mont64
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient, mont64(e = 0, below = 1)>) {
  %r = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, converted_rows = 2>} : !rns.poly<8192, q 0:2, coefficient, mont64(e = 0, below = 1)>
  return
}

// -----

// CHECK: invalid_converted_rows.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'ntt.forward': converted_rows takes words with a sign, the words are mixed64
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient, mont64(e = 0, below = 1) fp64(e = 0, below = 1)>) {
  %r = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, float_contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>, float_schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, converted_rows = 2>} : !rns.poly<8192, q 0:2, coefficient, mont64(e = 0, below = 1) fp64(e = 0, below = 1)>
  return
}
// CHECK-NOT: error:
