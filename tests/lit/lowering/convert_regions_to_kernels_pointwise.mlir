// RUN: fhelium-opt %s -p convert-regions-to-kernels | filecheck %s

!pair = !rns.poly<16, q 0:2, components = 2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!pair2 = !rns.poly<16, q 0:2, components = 2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {

resource.declare @rows "rows" {values = dense<[[0, 0, 0, 0, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 3, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x16xi32>} : memref<2x16xi32>
resource.declare @moduli "moduli" : memref<4x4xi64>

// One lane per element, one program per row; a lane computes both components, rows come from the table.
// CHECK-LABEL: kernel.func @pointwise_0(%rows: !kernel.buffer<i32>, %moduli: !kernel.buffer<i64>, %in0: !kernel.buffer<i64>, %in1: !kernel.buffer<i64>, %out0: !kernel.buffer<i64>) lanes [16] grid 2 attributes {num_warps = 4 : i64} {
// CHECK-DAG:     [[FOUR:%[0-9]+]] = arith.constant 4 : i64
// CHECK:         [[ROW:%[0-9]+]] = kernel.program_id 1
// CHECK-NEXT:    [[ENTRY:%[0-9]+]] = arith.shli [[ROW]], [[FOUR]] : i64
// CHECK-NEXT:    [[WORD:%[0-9]+]] = kernel.load %rows{{\[}}[[ENTRY]]{{\]}}
// CHECK:         [[Q:%[0-9]+]] = kernel.load %moduli
// CHECK:         [[QI:%[0-9]+]] = kernel.load %moduli
// CHECK-NEXT:    [[MOD:%[0-9]+]] = zq.modulus [[Q]], [[QI]] : i64 -> !zq.modulus<mont64>
// CHECK:         [[X0:%[0-9]+]] = kernel.load %in0
// CHECK:         [[Y0:%[0-9]+]] = kernel.load %in1
// CHECK-NEXT:    [[S0:%[0-9]+]] = zq.sub [[X0]], [[Y0]] mod [[MOD]] offset 1
// CHECK-NEXT:    [[T0:%[0-9]+]] = zq.reduce [[S0]] mod [[MOD]] from 2 to 1
// CHECK:         [[X1:%[0-9]+]] = kernel.load %in0
// CHECK:         [[Y1:%[0-9]+]] = kernel.load %in1
// CHECK-NEXT:    [[S1:%[0-9]+]] = zq.sub [[X1]], [[Y1]] mod [[MOD]] offset 1
// CHECK-NEXT:    [[T1:%[0-9]+]] = zq.reduce [[S1]] mod [[MOD]] from 2 to 1
// CHECK:         kernel.store [[T0]], %out0
// CHECK:         kernel.store [[T1]], %out0
// CHECK-NEXT:    kernel.return
// CHECK-LABEL: func.func @sub(%x: memref<2x2x16xi64>, %y: memref<2x2x16xi64>) -> memref<2x2x16xi64> {
// CHECK-NEXT:    %rows = host.resource @rows : memref<2x16xi32>
// CHECK-NEXT:    %moduli = host.resource @moduli : memref<4x4xi64>
// CHECK-NEXT:    %r = host.alloc : memref<2x2x16xi64>
// CHECK-NEXT:    host.launch @pointwise_0 grid [1, 2](%rows, %moduli, %x, %y, %r)
// CHECK-NEXT:    func.return %r : memref<2x2x16xi64>
func.func @sub(%x : !pair, %y : !pair) -> !pair {
  %r = fusion.region(%a = %x : !pair, %b = %y : !pair) -> (!pair) attributes {resources = [@rows, @moduli]} {
    %s = rns.sub %a, %b : !pair
    %t = rns.set_representative %s : !pair2 -> !pair
    fusion.yield %t : !pair
  }
  return %r : !pair
}
}
