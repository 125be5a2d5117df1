// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// Contract and schedule for each group of primes; the result's intervals follow from both contracts.
!c = !rns.poly<16, q 0:2, coefficient, mont64(e = 1, below = 4) fp64(e = 0, below = 2)>
// CHECK: %r = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, float_contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>, float_schedule = #ntt.schedule<kernels = {{\[\[}}4]], rows = 1, columns = 1, warps = 1>, schedule = #ntt.schedule<kernels = {{\[\[}}2], [2]], rows = 1, columns = 1, warps = 1, shoup = 4>} : !rns.poly<16, q 0:2, coefficient, mont64(e = 1, below = 4) fp64(e = 0, below = 2)>{{$}}
// CHECK: func.return %r : !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 4) fp64(e = 0, below = 8)>
func.func @f(%x : !c) -> !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 4) fp64(e = 0, below = 8)> {
  %r = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, float_contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>, float_schedule = #ntt.schedule<kernels = [[4]], rows = 1, columns = 1, warps = 1>, schedule = #ntt.schedule<kernels = [[2], [2]], rows = 1, columns = 1, warps = 1, shoup = 4>} : !c
  return %r : !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 4) fp64(e = 0, below = 8)>
}
