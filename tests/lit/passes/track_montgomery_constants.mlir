// RUN: fhelium-opt %s -p track-montgomery --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err
// RUN: fhelium-opt %s -p track-montgomery > %t.once && fhelium-opt %t.once -p track-montgomery > %t.twice && diff %t.once %t.twice

// A plaintext is declared at the exponents that its uses need: 1 to add it to a product and to multiply what
// stays as it is, 2 to bring a factor from 0 to 1. A stated exponent keeps its symbol.
!p = !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {

// CHECK:       resource.declare @w "plaintext" {values = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf64>, level = 1 : i64, scale = "1099511627776/1", exponent = 2 : i64}
// CHECK-NEXT:  resource.declare @w_e1 "plaintext" {values = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf64>, level = 1 : i64, scale = "1099511627776/1", exponent = 1 : i64}
// CHECK-NEXT:  resource.declare @v "plaintext" {{{.*}}exponent = 1 : i64}
// CHECK-NEXT:  resource.declare @v_e0 "plaintext" {{{.*}}exponent = 0 : i64}
resource.declare @w "plaintext" {values = dense<[1.0, 2.0]> : tensor<2xf64>, level = 1 : i64, scale = "1099511627776/1"}
resource.declare @v "plaintext" {values = dense<[1.0, 2.0]> : tensor<2xf64>, level = 1 : i64, scale = "1099511627776/1", exponent = 1 : i64}

// CHECK-LABEL: func.func @two_exponents(
// CHECK-NEXT:  %w = resource.ref @w : {{.*}}mont64(e = 2, below = 1)>
// CHECK-NEXT:  %w_1 = resource.ref @w_e1 : {{.*}}mont64(e = 1, below = 1)>
// CHECK-NEXT:  %m = rns.mul %x, %w : {{.*}}mont64(e = 0, below = 1)>, {{.*}}mont64(e = 2, below = 1)> -> {{.*}}mont64(e = 1, below = 2)>
// CHECK-NEXT:  %s = rns.mul %m, %m
// CHECK-NEXT:  %a = rns.add %s, %w_1 : {{.*}}mont64(e = 1, below = 2)>, {{.*}}mont64(e = 1, below = 1)>
func.func @two_exponents(%x : !p) -> !p {
  %w = resource.ref @w : !p
  %m = rns.mul %x, %w : !p
  %s = rns.mul %m, %m : !p
  %a = rns.add %s, %w : !p
  %r = rns.mul_constant %a {constant = #rns.constant<inverse p 0:1>} : !p
  return %r : !p
}

// Two references: one declaration for each exponent.
// CHECK-LABEL: func.func @two_references(
// CHECK-NEXT:  %v = resource.ref @v_e0 : {{.*}}mont64(e = 0, below = 1)>
// CHECK-NEXT:  %a = rns.add %x, %v
// CHECK-NEXT:  %u = resource.ref @v : {{.*}}mont64(e = 1, below = 1)>
// CHECK-NEXT:  %r = rns.mul %a, %u : {{.*}}mont64(e = 0, below = 2)>, {{.*}}mont64(e = 1, below = 1)> -> {{.*}}mont64(e = 0, below = 2)>
func.func @two_references(%x : !p) -> !p {
  %v = resource.ref @v : !p
  %a = rns.add %x, %v : !p
  %u = resource.ref @v : !p
  %r = rns.mul %a, %u : !p
  return %r : !p
}
}

// REMARKS: remark: [track-montgomery] applied: 'resource.declare': declared @w_e1, which is @w at exponent 1
// REMARKS: remark: [track-montgomery] applied: 'resource.declare': declared @v_e0, which is @v at exponent 0
// REMARKS: remark: [track-montgomery] applied: inserted 0 conversions (0 words) and 2 reductions
