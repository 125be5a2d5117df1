// RUN: fhelium-opt %s -p convert-regions-to-kernels --split-input-file | filecheck %s

!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont32(e = 0, below = 4)>
!c = !rns.poly<16, q 0:2, coefficient, mont32(e = 0, below = 4)>
module attributes {rns.arithmetic = #rns.arithmetic<mont32>} {

resource.declare @rows3 "rows" {values = dense<[[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x16xi32>} : memref<2x16xi32>
resource.declare @moduli "moduli" : memref<4x4xi32>
resource.declare @some "shoup_twiddles" {direction = "forward", stages = 3 : i64} : memref<4x8xi64>
resource.declare @all "twiddles" {direction = "forward"} : memref<4x16xi32>

// The first three stages of four multiply by Shoup's product: a lane reads a factor and its quotient at once.
// CHECK-LABEL: kernel.func @forward_0(
// CHECK-SAME:    %shoup_twiddles: !kernel.buffer<i64>, %in0: !kernel.buffer<i32>, %out0: !kernel.buffer<i32>) lanes [2, 2] grid 2
// CHECK:         [[C32:%[0-9a-z]+]] = arith.constant 32 : i64
// CHECK:         [[MOD:%[0-9]+]] = zq.modulus
// CHECK:         [[E:%[0-9]+]] = kernel.load %shoup_twiddles
// CHECK-NEXT:    [[W:%[0-9]+]] = arith.trunci [[E]] : i64 to i32
// CHECK-NEXT:    [[H:%[0-9]+]] = arith.shrui [[E]], [[C32]] : i64
// CHECK-NEXT:    [[Q:%[0-9]+]] = arith.trunci [[H]] : i64 to i32
// CHECK-NEXT:    zq.mul_shoup {{%[0-9]+}}, [[W]], [[Q]] mod [[MOD]] : i32, !zq.modulus<mont32>
// CHECK-COUNT-1: zq.mul_shoup
// CHECK-NOT:     zq.mul
// In the last kernel one stage of two does.
// CHECK-LABEL: kernel.func @forward_1(
// CHECK-SAME:    %shoup_twiddles: !kernel.buffer<i64>, %twiddles: !kernel.buffer<i32>, %out0: !kernel.buffer<i32>) lanes [2] grid 2
// CHECK-COUNT-2: zq.mul_shoup
// CHECK-COUNT-2: zq.mul {{.*}} : i32, !zq.modulus<mont32>
// CHECK-NOT:     zq.mul
// CHECK-LABEL: func.func @transform(
// CHECK:         host.launch @forward_0 grid [2, 2](%rows3, %moduli, %some, %x, %r)
// CHECK-NEXT:    host.launch @forward_1 grid [2, 2](%rows3, %moduli, %some, %all, %r)
func.func @transform(%x : !c) -> !e {
  %r = fusion.region(%a = %x : !c) -> (!e) attributes {resources = [@rows3, @moduli, @some, @all]} {
    %f = ntt.forward %a {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[1, 1], [2]], rows = 1, columns = 2, warps = 1, shoup = 3>} : !c
    fusion.yield %f : !e
  }
  return %r : !e
}
}

// -----

!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>
!c = !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 2)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {

resource.declare @rows3 "rows" {values = dense<[[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x16xi32>} : memref<2x16xi32>
resource.declare @moduli "moduli" : memref<4x4xi64>
resource.declare @all "shoup_twiddles" {direction = "inverse", stages = 4 : i64} : memref<4x2x16xi64>
resource.declare @degree "shoup_inverse_degree" {exponent = -1 : i64} : memref<4x2x2xi64>

// If all stages do, no other table is read. Quotients of 64 bits stand N words behind their factors, and those of the
// last stage two.
// CHECK-LABEL: kernel.func @inverse_0(
// CHECK-SAME:    %shoup_twiddles: !kernel.buffer<i64>, %in0: !kernel.buffer<i64>, %out0: !kernel.buffer<i64>) lanes [2] grid 2
// CHECK:         [[C16:%[0-9a-z]+]] = arith.constant 16 : i64
// CHECK:         [[W:%[0-9]+]] = kernel.load %shoup_twiddles{{\[}}[[P:%[0-9]+]]]
// CHECK:         [[B:%[0-9]+]] = arith.addi [[P]], [[C16]] : i64
// CHECK-NEXT:    [[Q:%[0-9]+]] = kernel.load %shoup_twiddles{{\[}}[[B]]]
// CHECK:         zq.mul_shoup {{%[0-9]+}}, [[W]], [[Q]] mod
// CHECK-NOT:     zq.mul{{ }}
// CHECK-LABEL: kernel.func @inverse_1(
// CHECK:         [[C2:%[0-9a-z]+]] = arith.constant 2 : i64
// CHECK:         [[N:%[0-9]+]] = kernel.load %shoup_inverse_degree{{\[}}[[P:%[0-9]+]]]
// CHECK:         [[NQ:%[0-9]+]] = kernel.load %shoup_inverse_degree
// CHECK:         [[NW:%[0-9]+]] = kernel.load %shoup_inverse_degree
// CHECK:         [[NWQ:%[0-9]+]] = kernel.load %shoup_inverse_degree
// CHECK:         zq.mul_shoup {{%[0-9]+}}, [[N]], [[NQ]] mod
// CHECK-NEXT:    zq.mul_shoup {{%[0-9]+}}, [[NW]], [[NWQ]] mod
// CHECK-NOT:     zq.mul{{ }}
// CHECK-LABEL: func.func @transform(
// CHECK:         host.launch @inverse_0 grid [2, 2](%rows3, %moduli, %all, %x, %r)
// CHECK-NEXT:    host.launch @inverse_1 grid [2, 2](%rows3, %moduli, %all, %r, %degree)
func.func @transform(%x : !e) -> !c {
  %r = fusion.region(%a = %x : !e) -> (!c) attributes {resources = [@rows3, @moduli, @all, @degree]} {
    %f = ntt.inverse %a {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = -1>, schedule = #ntt.schedule<kernels = [[1, 1], [2]], rows = 1, columns = 2, warps = 1, shoup = 4>} : !e
    fusion.yield %f : !c
  }
  return %r : !c
}
}
