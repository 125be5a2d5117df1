// RUN: fhelium-opt %s -p tune-ntt-schedules | filecheck %s
// RUN: fhelium-opt %s -p 'tune-ntt-schedules{device=cpu}' | filecheck %s --check-prefix=CPU

// On a GPU transforms of doubles compute the twiddle factors of groups from stage 8 on, if other work stands beside them.
// CPU: builtin.module
// CPU-NOT: table_stages

// CHECK-LABEL: func.func @n65536(
// CHECK:         %r = ntt.forward {{.*}}schedule = #ntt.schedule<kernels = {{\[\[}}4, 4], [4, 4]], rows = 1, columns = 8, warps = 4, table_stages = 8>}
func.func @n65536(%x : !rns.poly<65536, q 0:2, coefficient, fp64(e = 0, below = 1)>) -> !rns.poly<65536, q 0:2, evaluation(bit_reversed), fp64(e = 0, below = 8)> {
  %r = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>} : !rns.poly<65536, q 0:2, coefficient, fp64(e = 0, below = 1)>
  return %r : !rns.poly<65536, q 0:2, evaluation(bit_reversed), fp64(e = 0, below = 8)>
}

// Here that is the last group, which starts at stage 10.
// CHECK-LABEL: func.func @n8192(
// CHECK:         %r = ntt.inverse {{.*}}schedule = #ntt.schedule<kernels = {{\[\[}}4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, table_stages = 8>}
func.func @n8192(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed), fp64(e = 0, below = 1)>) -> !rns.poly<8192, q 0:2, coefficient, fp64(e = 0, below = 8)> {
  %r = ntt.inverse %x {contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>} : !rns.poly<8192, q 0:2, evaluation(bit_reversed), fp64(e = 0, below = 1)>
  return %r : !rns.poly<8192, q 0:2, coefficient, fp64(e = 0, below = 8)>
}

// Here there is none,
// CHECK-LABEL: func.func @n256(
// CHECK:         %r = ntt.inverse {{.*}}schedule = #ntt.schedule<kernels = {{\[\[}}4, 4]], rows = 1, columns = 1, warps = 1>}
func.func @n256(%x : !rns.poly<256, q 0:2, evaluation(bit_reversed), fp64(e = 0, below = 1)>) -> !rns.poly<256, q 0:2, coefficient, fp64(e = 0, below = 8)> {
  %r = ntt.inverse %x {contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>} : !rns.poly<256, q 0:2, evaluation(bit_reversed), fp64(e = 0, below = 1)>
  return %r : !rns.poly<256, q 0:2, coefficient, fp64(e = 0, below = 8)>
}

// and integers take as long to multiply as to read.
// CHECK-LABEL: func.func @integers(
// CHECK-NOT:     table_stages
func.func @integers(%x : !rns.poly<65536, q 0:2, coefficient, mont32(e = 0, below = 1)>, %y : !rns.poly<65536, q 0:2, coefficient, mont64(e = 0, below = 1)>, %z : !rns.poly<65536, q 0:2, coefficient>) {
  %r = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !rns.poly<65536, q 0:2, coefficient, mont32(e = 0, below = 1)>
  %s = ntt.forward %y {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !rns.poly<65536, q 0:2, coefficient, mont64(e = 0, below = 1)>
  %t = ntt.forward %z {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !rns.poly<65536, q 0:2, coefficient>
  return
}

// A region that is about nothing but a transform reads the factors of all groups but the last one,
// CHECK-LABEL: func.func @alone(
// CHECK:         ntt.forward {{.*}}schedule = #ntt.schedule<kernels = {{\[\[}}4, 4], [4, 4]], rows = 1, columns = 8, warps = 4, table_stages = 12>}
func.func @alone(%x : !rns.poly<65536, q 0:2, coefficient, int64(e = 0, below = 1)>) -> !rns.poly<65536, q 0:2, evaluation(bit_reversed), fp64(e = 0, below = 8)> {
  %r = fusion.region(%a = %x : !rns.poly<65536, q 0:2, coefficient, int64(e = 0, below = 1)>) -> (!rns.poly<65536, q 0:2, evaluation(bit_reversed), fp64(e = 0, below = 8)>) {
    %b = rns.set_representative %a : !rns.poly<65536, q 0:2, coefficient, int64(e = 0, below = 1)> -> !rns.poly<65536, q 0:2, coefficient, fp64(e = 0, below = 2)>
    %c = ntt.forward %b {contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>} : !rns.poly<65536, q 0:2, coefficient, fp64(e = 0, below = 2)>
    fusion.yield %c : !rns.poly<65536, q 0:2, evaluation(bit_reversed), fp64(e = 0, below = 8)>
  }
  return %r : !rns.poly<65536, q 0:2, evaluation(bit_reversed), fp64(e = 0, below = 8)>
}

// and one with other work does not.
// CHECK-LABEL: func.func @together(
// CHECK:         ntt.forward {{.*}}warps = 4, table_stages = 8>}
func.func @together(%x : !rns.poly<65536, q 0:2, coefficient, fp64(e = 0, below = 1)>) -> !rns.poly<65536, q 0:2, evaluation(bit_reversed), fp64(e = 0, below = 8)> {
  %r = fusion.region(%a = %x : !rns.poly<65536, q 0:2, coefficient, fp64(e = 0, below = 1)>) -> (!rns.poly<65536, q 0:2, evaluation(bit_reversed), fp64(e = 0, below = 8)>) {
    %b = rns.add %a, %a : !rns.poly<65536, q 0:2, coefficient, fp64(e = 0, below = 1)>
    %c = ntt.forward %b {contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>} : !rns.poly<65536, q 0:2, coefficient, fp64(e = 0, below = 2)>
    fusion.yield %c : !rns.poly<65536, q 0:2, evaluation(bit_reversed), fp64(e = 0, below = 8)>
  }
  return %r : !rns.poly<65536, q 0:2, evaluation(bit_reversed), fp64(e = 0, below = 8)>
}
