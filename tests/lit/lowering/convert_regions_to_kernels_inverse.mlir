// RUN: fhelium-opt %s -p convert-regions-to-kernels | filecheck %s

!c2 = !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 2)>
!m2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {

resource.declare @rows3 "rows" {values = dense<[[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x16xi32>} : memref<2x16xi32>
resource.declare @moduli "moduli" : memref<4x4xi64>
resource.declare @inverse "twiddles" {direction = "inverse"} : memref<4x16xi64>
resource.declare @degree "inverse_degree" {exponent = 0 : i64} : memref<4x2xi64>

// The inverse runs the kernels of the schedule backwards: butterflies (u, v) -> (u + v, w (u - v)). Sums stay below 4q
// in a kernel, and are reduced below 2q where they are added again or leave it.
// CHECK-LABEL: kernel.func @inverse_0(
// CHECK-SAME:    %in0: !kernel.buffer<i64>, %out0: !kernel.buffer<i64>) lanes [2] grid 2
// CHECK:         [[MOD:%[0-9]+]] = zq.modulus
// CHECK:         [[U:%[0-9]+]] = kernel.load %in0
// CHECK:         [[V:%[0-9]+]] = kernel.load %in0
// CHECK-COUNT-2: kernel.load %in0
// CHECK:         [[W:%[0-9]+]] = kernel.load %twiddles
// CHECK-NEXT:    [[S:%[0-9]+]] = zq.add [[U]], [[V]] mod [[MOD]]
// CHECK-NEXT:    [[D:%[0-9]+]] = zq.sub [[U]], [[V]] mod [[MOD]] offset 2
// CHECK-NEXT:    [[P:%[0-9]+]] = zq.mul [[D]], [[W]] mod [[MOD]]
// CHECK:         [[S2:%[0-9]+]] = zq.add
// CHECK:         [[P2:%[0-9]+]] = zq.mul
// CHECK:         [[R:%[0-9]+]] = zq.reduce [[S]] mod [[MOD]] from 4 to 2
// CHECK-NEXT:    [[R2:%[0-9]+]] = zq.reduce [[S2]] mod [[MOD]] from 4 to 2
// CHECK-NEXT:    [[T:%[0-9]+]] = zq.add [[R]], [[R2]] mod [[MOD]]
// CHECK-NEXT:    zq.sub [[R]], [[R2]] mod [[MOD]] offset 2
// CHECK:         [[T2:%[0-9]+]] = zq.add [[P]], [[P2]] mod [[MOD]]
// CHECK-NEXT:    zq.sub [[P]], [[P2]] mod [[MOD]] offset 2
// CHECK:         zq.reduce [[T]] mod [[MOD]] from 4 to 2
// CHECK-NEXT:    zq.reduce [[T2]] mod [[MOD]] from 4 to 2
// CHECK-NOT:     zq.reduce
// CHECK-COUNT-4: kernel.store
// CHECK-NEXT:    kernel.return
// The last stage multiplies both halves with constants that hold N^-1 (and the change of the exponent).
// CHECK-LABEL: kernel.func @inverse_1(
// CHECK-SAME:    %out0: !kernel.buffer<i64>, %inverse_degree: !kernel.buffer<i64>) lanes [2, 2] grid 2
// CHECK:         [[U:%[0-9]+]], [[V:%[0-9]+]] = kernel.exchange
// CHECK:         [[N:%[0-9]+]] = kernel.load %inverse_degree
// CHECK:         [[NW:%[0-9]+]] = kernel.load %inverse_degree
// CHECK-NEXT:    [[S:%[0-9]+]] = zq.add [[U]], [[V]]
// CHECK-NEXT:    [[D:%[0-9]+]] = zq.sub [[U]], [[V]] {{.*}} offset 2
// CHECK-NEXT:    [[A:%[0-9]+]] = zq.mul [[S]], [[N]]
// CHECK-NEXT:    [[B:%[0-9]+]] = zq.mul [[D]], [[NW]]
// CHECK:         kernel.store [[A]], %out0
// CHECK:         kernel.store [[B]], %out0
// CHECK-NEXT:    kernel.return
// CHECK-LABEL: func.func @transform(
// CHECK:         host.launch @inverse_0 grid [2, 2](%rows3, %moduli, %inverse, %x, %r)
// CHECK-NEXT:    host.launch @inverse_1 grid [2, 2](%rows3, %moduli, %inverse, %r, %degree)
func.func @transform(%x : !m2) -> !c2 {
  %r = fusion.region(%a = %x : !m2) -> (!c2) attributes {resources = [@rows3, @moduli, @inverse, @degree]} {
    %f = ntt.inverse %a {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = -1>, schedule = #ntt.schedule<kernels = [[1, 1], [2]], rows = 1, columns = 2, warps = 1>} : !m2
    fusion.yield %f : !c2
  }
  return %r : !c2
}
}
