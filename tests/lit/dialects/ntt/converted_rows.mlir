// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// CHECK: ntt.forward %x {schedule = #ntt.schedule<kernels = {{\[\[}}4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, converted_rows = 2>}
// CHECK: ntt.forward %x {schedule = #ntt.schedule<kernels = {{\[\[}}4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, table_stages = 10, converted_rows = 2>}
// CHECK: ntt.forward %x {schedule = #ntt.schedule<kernels = {{\[\[}}4, 3], [3, 3]], rows = 1, columns = 8, warps = 4>}
func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) {
  %r = ntt.forward %x {schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, converted_rows = 2>} : !rns.poly<8192, q 0:2, coefficient>
  %s = ntt.forward %x {schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, converted_rows = 2, table_stages = 10>} : !rns.poly<8192, q 0:2, coefficient>
  %t = ntt.forward %x {schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 8, warps = 4, converted_rows = 1>} : !rns.poly<8192, q 0:2, coefficient>
  return
}
