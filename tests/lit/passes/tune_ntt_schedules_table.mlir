// RUN: fhelium-opt %s -p 'tune-ntt-schedules{table="%S/Inputs/schedules.json"}' | filecheck %s

// One polynomial of two limbs, and twenty of two limbs, which are nearer to 64 than to 2.
// CHECK: ntt.forward {{.*}}kernels = {{\[\[}}4, 3], [4, 2]], rows = 1, columns = 4, warps = 2>
// CHECK: ntt.inverse {{.*}}kernels = {{\[\[}}4, 3], [3, 3]], rows = 1, columns = 16, warps = 4>
// What the table does not have is chosen as without it, and what is stated stays.
// CHECK: ntt.forward {{.*}}kernels = {{\[\[}}4, 3], [3, 3]], rows = 1, columns = 16, warps = 8>
// CHECK: ntt.forward {{.*}}kernels = {{\[\[}}3, 3], [4, 3]], rows = 1, columns = 2, warps = 1>
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient, mont64(e = 0, below = 1)>, %y : !rns.poly<8192, q 0:2, components = 20, evaluation(bit_reversed), mont64(e = 0, below = 1)>, %z : !rns.poly<8192, q 0:2, coefficient, mont32(e = 0, below = 1)>) {
  %a = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !rns.poly<8192, q 0:2, coefficient, mont64(e = 0, below = 1)>
  %b = ntt.inverse %y {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 0>} : !rns.poly<8192, q 0:2, components = 20, evaluation(bit_reversed), mont64(e = 0, below = 1)>
  %c = ntt.forward %z {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !rns.poly<8192, q 0:2, coefficient, mont32(e = 0, below = 1)>
  %d = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[3, 3], [4, 3]], rows = 1, columns = 2, warps = 1>} : !rns.poly<8192, q 0:2, coefficient, mont64(e = 0, below = 1)>
  return
}
