// RUN: fhelium-opt %s -p tune-ntt-schedules --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err

// A schedule for each group of primes: Shoup's products for integers, computed twiddle factors for doubles. A stated one
// is kept, for its group.
// CHECK: %r = ntt.forward {{.*}} schedule = #ntt.schedule<kernels = {{\[\[}}4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, shoup = 10>, float_schedule = #ntt.schedule<kernels = {{\[\[}}4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, table_stages = 8>}
// CHECK: %s = ntt.forward {{.*}} float_schedule = #ntt.schedule<kernels = {{\[\[}}4], [4], [4], [1]], rows = 1, columns = 8, warps = 1>, schedule = #ntt.schedule<kernels = {{\[\[}}4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, shoup = 10>}
// REMARKS: remark: [tune-ntt-schedules] missed: 'ntt.forward': kept the stated schedule {{\[\[}}4], [4], [4], [1]]
// REMARKS: remark: [tune-ntt-schedules] applied: ring degree 8192 on 'gpu': 2 transforms as {{\[\[}}4, 3], [3, 3]], Shoup's products in 10 stages
// REMARKS: remark: [tune-ntt-schedules] applied: ring degree 8192 on 'gpu': 1 transforms as {{\[\[}}4, 3], [3, 3]], cost
!c = !rns.poly<8192, q 0:2, coefficient, mont64(e = 0, below = 1) fp64(e = 0, below = 1)>
!e = !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 4) fp64(e = 0, below = 8)>
func.func @f(%x : !c) -> (!e, !e) {
  %r = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, float_contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>} : !c
  %s = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, float_contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>, float_schedule = #ntt.schedule<kernels = [[4], [4], [4], [1]], rows = 1, columns = 8, warps = 1>} : !c
  return %r, %s : !e, !e
}
