// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// CHECK: ntt.forward %x {schedule = #ntt.schedule<kernels = {{\[\[}}4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, shoup = 10>}
// CHECK: ntt.forward %x {schedule = #ntt.schedule<kernels = {{\[\[}}4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, table_stages = 10, shoup = 13>}
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) {
  %r = ntt.forward %x {schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, shoup = 10>} : !rns.poly<8192, q 0:2, coefficient>
  %s = ntt.forward %x {schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, shoup = 13, table_stages = 10>} : !rns.poly<8192, q 0:2, coefficient>
  return
}
