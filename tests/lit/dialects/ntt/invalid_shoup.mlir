// RUN: not fhelium-opt %s --split-input-file > %t.out 2> %t.err
// RUN: filecheck %s < %t.err

// CHECK: invalid_shoup.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ntt.schedule: shoup = 14 is more than the 13 stages
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) {
  %r = ntt.forward %x {schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, shoup = 14>} : !rns.poly<8192, q 0:2, coefficient>
  return
}

// -----

// CHECK: invalid_shoup.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: ntt.schedule: shoup = -1 is negative
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) {
  %r = ntt.forward %x {schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, shoup = -1>} : !rns.poly<8192, q 0:2, coefficient>
  return
}

// -----

// CHECK: invalid_shoup.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'ntt.forward': Shoup's products are of integers, the words are fp64
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient, fp64(e = 0, below = 1)>) {
  %r = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>, schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, shoup = 13>} : !rns.poly<8192, q 0:2, coefficient, fp64(e = 0, below = 1)>
  return
}

// -----

// CHECK: invalid_shoup.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'ntt.forward': Shoup's products are of unsigned words, the words are smont32
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient, smont32(e = 0, below = 1)>) {
  %r = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>, schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, shoup = 13>} : !rns.poly<8192, q 0:2, coefficient, smont32(e = 0, below = 1)>
  return
}

// -----

// CHECK: invalid_shoup.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: shoup is stated twice
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) {
  %r = ntt.forward %x {schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, shoup = 13, shoup = 13>} : !rns.poly<8192, q 0:2, coefficient>
  return
}
// CHECK-NOT: error:
