// RUN: fhelium-opt %s -p tune-ntt-schedules --remarks=all 2> %t.err | filecheck %s --check-prefix=GPU
// RUN: filecheck %s --check-prefix=REMARKS < %t.err
// RUN: fhelium-opt %s -p 'tune-ntt-schedules{device=cpu}' | filecheck %s --check-prefix=CPU
// RUN: fhelium-opt %s -p 'tune-ntt-schedules{device=interpreter}' | filecheck %s --check-prefix=NONE

// A GPU wants Shoup's products of 64-bit words in front of the last group of stages, whose table is the larger part,
// the CPU in all stages; the description of the interpreter says nothing of them.
// GPU:  ntt.forward {{.*}}kernels = {{\[\[}}4, 3], [3, 3]], rows = 1, columns = 16, warps = 8>
// CPU:  ntt.forward {{.*}}kernels = {{\[\[}}3, 2], [4, 4]], rows = 1, columns = 16, warps = 1, shoup = 13>
// NONE: ntt.forward {{.*}}warps = 4>
// GPU:  ntt.inverse {{.*}}kernels = {{\[\[}}4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, shoup = 10>
// CPU:  ntt.inverse {{.*}}, warps = 1, shoup = 13>
// NONE: ntt.inverse {{.*}}warps = 4>
// Doubles have no such products.
// GPU-NOT: shoup
// CPU-NOT: shoup
// GPU:  ntt.forward
// REMARKS: applied: ring degree 8192 on 'gpu': 1 transforms as {{\[\[4, 3\], \[3, 3\]\]}}, Shoup's products in 10 stages, cost {{[0-9.]+}}; next best {{\[\[4, 3\], \[4, 2\]\]}}
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient, mont32(e = 0, below = 1)>, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>, %z : !rns.poly<8192, q 0:2, coefficient, fp64(e = 0, below = 1)>) {
  %a = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !rns.poly<8192, q 0:2, coefficient, mont32(e = 0, below = 1)>
  %b = ntt.inverse %y {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 0>} : !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
  %c = ntt.forward %z {contract = #ntt.contract<bit_reversed, input = 2, output = 9, exponent = 0>} : !rns.poly<8192, q 0:2, coefficient, fp64(e = 0, below = 1)>
  return
}
