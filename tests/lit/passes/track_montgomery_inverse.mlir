// RUN: fhelium-opt %s -p track-montgomery --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err
// RUN: fhelium-opt %s -p track-montgomery > %t.once && fhelium-opt %t.once -p track-montgomery > %t.twice && diff %t.once %t.twice

// N^-1 of an inverse transform absorbs a change of the exponent in both directions, and a value that several
// uses need at another exponent is converted once.
!e = !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
!c = !rns.poly<8192, q 0:2, coefficient>
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {

// CHECK-LABEL: func.func @down(
// CHECK:       %m = rns.mul
// CHECK-NEXT:  %i = ntt.inverse %m {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = -1>} : {{.*}}mont64(e = 1, below = 2)>
// CHECK-NEXT:  %f = ntt.forward %i {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : {{.*}}mont64(e = 0, below = 2)>
// CHECK-NEXT:  %f_1 = rns.set_representative %f : {{.*}}mont64(e = 0, below = 4)> -> {{.*}}mont64(e = 0, below = 1)>
// CHECK-NEXT:  func.return %f_1
func.func @down(%x : !e) -> !e {
  %m = rns.mul %x, %x : !e
  %i = ntt.inverse %m {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 0>} : !e
  %f = ntt.forward %i {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !c
  return %f : !e
}

// CHECK-LABEL: func.func @up(
// CHECK-NEXT:  %i = ntt.inverse %x {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 1>} : {{.*}}mont64(e = 0, below = 1)>
// CHECK-NEXT:  %f = ntt.forward %i {{.*}}mont64(e = 1, below = 2)>
// CHECK-NEXT:  %m = rns.mul %f, %f : {{.*}}mont64(e = 1, below = 4)> -> {{.*}}mont64(e = 1, below = 2)>
func.func @up(%x : !e) -> !e {
  %i = ntt.inverse %x {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 0>} : !e
  %f = ntt.forward %i {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !c
  %m = rns.mul %f, %f : !e
  %r = rns.mul_constant %m {constant = #rns.constant<inverse p 0:1>} : !e
  return %r : !e
}

// CHECK-LABEL: func.func @shared(
// CHECK-NEXT:  %x_1 = rns.set_representative %x
// CHECK-NEXT:  %a = rns.mul %x_1, %x_1
// CHECK-NEXT:  %b = rns.mul %a, %x_1
// CHECK-NEXT:  %c = rns.mul %b, %x_1
// CHECK-NEXT:  %r = rns.mul_constant %c
func.func @shared(%x : !e) -> !e {
  %a = rns.mul %x, %x : !e
  %b = rns.mul %a, %x : !e
  %c = rns.mul %b, %x : !e
  %r = rns.mul_constant %c {constant = #rns.constant<inverse p 0:1>} : !e
  return %r : !e
}
}

// REMARKS: remark: [track-montgomery] applied: inserted 2 conversions (32768 words) and 3 reductions
