// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// The contract decides the order of evaluation.
// CHECK-LABEL: func.func @open(
// CHECK:       %r = ntt.forward %x : !rns.poly<8192, q 0:2, coefficient>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, evaluation(?)>
func.func @open(%x : !rns.poly<8192, q 0:2, coefficient>) -> !rns.poly<8192, q 0:2, evaluation(?)> {
  %r = ntt.forward %x : !rns.poly<8192, q 0:2, coefficient>
  return %r : !rns.poly<8192, q 0:2, evaluation(?)>
}

// CHECK-LABEL: func.func @contract(
// CHECK:       %r = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !rns.poly<8192, q 0:2, coefficient, mont64(e = 1, below = 4)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 4)>
func.func @contract(%x : !rns.poly<8192, q 0:2, coefficient, mont64(e = 1, below = 4)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 4)> {
  %r = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !rns.poly<8192, q 0:2, coefficient, mont64(e = 1, below = 4)>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 4)>
}

// CHECK-LABEL: func.func @schedule(
// CHECK:       %r = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 8, warps = 4>} : !rns.poly<8192, q 0:2, coefficient>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
func.func @schedule(%x : !rns.poly<8192, q 0:2, coefficient>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)> {
  %r = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 8, warps = 4>} : !rns.poly<8192, q 0:2, coefficient>
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// Twiddle factors of the groups from stage 7 on are computed. A number that is 0 is not printed.
// CHECK-LABEL: func.func @computed(
// CHECK:       %y = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, table_stages = 7>} : !rns.poly<8192, q 0:2, coefficient>
// CHECK-NEXT:  %r = ntt.inverse %y {schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 8, warps = 4>}
func.func @computed(%x : !rns.poly<8192, q 0:2, coefficient>) -> !rns.poly<8192, q 0:2, coefficient> {
  %y = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, table_stages = 7>} : !rns.poly<8192, q 0:2, coefficient>
  %r = ntt.inverse %y {schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, table_stages = 0>} : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2, coefficient>
}
