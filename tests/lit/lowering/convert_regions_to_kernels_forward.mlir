// RUN: fhelium-opt %s -p convert-regions-to-kernels | filecheck %s

!e5 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 5)>
!e4 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 4)>
!c2 = !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 2)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {

resource.declare @rows3 "rows" {values = dense<[[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x16xi32>} : memref<2x16xi32>
resource.declare @moduli "moduli" : memref<4x4xi64>
resource.declare @forward "twiddles" {direction = "forward"} : memref<4x16xi64>

// The first kernel, stages 1 and 1 with an exchange: butterflies (u, v) -> (u + w v, u - w v), u brought below 2q first.
// CHECK-LABEL: kernel.func @forward_0(
// CHECK-SAME:    %in0: !kernel.buffer<i64>, %out0: !kernel.buffer<i64>) lanes [2, 2] grid 2 attributes {num_warps = 1 : i64} {
// CHECK:         [[MOD:%[0-9]+]] = zq.modulus
// CHECK:         [[U:%[0-9]+]] = kernel.load %in0
// CHECK:         [[V:%[0-9]+]] = kernel.load %in0
// CHECK:         [[W:%[0-9]+]] = kernel.load %twiddles
// CHECK-NEXT:    [[P:%[0-9]+]] = zq.mul [[V]], [[W]] mod [[MOD]]
// CHECK-NEXT:    [[L:%[0-9]+]] = zq.reduce [[U]] mod [[MOD]] from 4 to 2
// CHECK-NEXT:    [[A:%[0-9]+]] = zq.add [[L]], [[P]] mod [[MOD]]
// CHECK-NEXT:    [[B:%[0-9]+]] = zq.sub [[L]], [[P]] mod [[MOD]] offset 2
// CHECK-NEXT:    [[C:%[0-9]+]], [[D:%[0-9]+]] = kernel.exchange [[A]], [[B]] axis 0
// CHECK-COUNT-1: zq.mul
// CHECK:         kernel.store
// CHECK:         kernel.store
// CHECK-NEXT:    kernel.return
// The second kernel, two stages in registers on four words, reads and writes the result's buffer; its four butterflies
// share three twiddles.
// CHECK-LABEL: kernel.func @forward_1(
// CHECK-SAME:    %twiddles: !kernel.buffer<i64>, %out0: !kernel.buffer<i64>) lanes [2] grid 2
// CHECK-COUNT-4: kernel.load %out0
// CHECK:         kernel.load %twiddles
// CHECK-COUNT-2: zq.mul
// CHECK:         kernel.load %twiddles
// CHECK-COUNT-1: zq.mul
// CHECK:         kernel.load %twiddles
// CHECK-COUNT-1: zq.mul
// The negation that follows the transform is part of its last kernel.
// CHECK:         [[F:%[0-9]+]] = zq.sub {{.*}} offset 2
// CHECK:         zq.sub {{.*}} offset 4
// CHECK-COUNT-4: kernel.store
// CHECK-NEXT:    kernel.return
// CHECK-LABEL: func.func @transform(
// CHECK:         host.launch @forward_0 grid [2, 2](%rows3, %moduli, %forward, %x, %r)
// CHECK-NEXT:    host.launch @forward_1 grid [2, 2](%rows3, %moduli, %forward, %r)
func.func @transform(%x : !c2) -> !e5 {
  %r = fusion.region(%a = %x : !c2) -> (!e5) attributes {resources = [@rows3, @moduli, @forward]} {
    %f = ntt.forward %a {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[1, 1], [2]], rows = 1, columns = 2, warps = 1>} : !c2
    %n = rns.negate %f : !e4
    fusion.yield %n : !e5
  }
  return %r : !e5
}
}
