// RUN: not fhelium-opt %s --split-input-file > %t.out 2> %t.err
// RUN: filecheck %s < %t.err

!c = !rns.poly<16, q 0:2, coefficient, mont64(e = 1, below = 4) fp64(e = 0, below = 3)>
// CHECK: invalid_mixed.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'ntt.forward': the operand is below 3q, the contract takes 2q
func.func @f(%x : !c) {
  %r = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, float_contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>} : !c
  return
}

// -----

!c = !rns.poly<16, q 0:2, coefficient, mont64(e = 1, below = 1) fp64(e = 0, below = 1)>
// CHECK: invalid_mixed.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'ntt.forward': Shoup's products are of integers, the words are fp64
func.func @f(%x : !c) {
  %r = ntt.forward %x {float_schedule = #ntt.schedule<kernels = [[4]], rows = 1, columns = 1, warps = 1, shoup = 4>} : !c
  return
}

// -----

!c = !rns.poly<16, q 0:2, coefficient, mont64(e = 1, below = 1) fp64(e = 0, below = 1)>
// CHECK: invalid_mixed.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'ntt.forward': the schedule has 5 stages, ring degree 16 needs 4
func.func @f(%x : !c) {
  %r = ntt.forward %x {float_schedule = #ntt.schedule<kernels = [[4], [1]], rows = 1, columns = 1, warps = 1>} : !c
  return
}
// CHECK-NOT: error:
