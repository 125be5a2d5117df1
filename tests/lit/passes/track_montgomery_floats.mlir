// RUN: fhelium-opt %s -p track-montgomery --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err
// RUN: fhelium-opt %s -p track-montgomery > %t.once && fhelium-opt %t.once -p track-montgomery > %t.twice && diff %t.once %t.twice

// Arguments and results are canonical integers, converted once each; inside there are doubles, without exponents.
!e = !rns.poly<64, q 0:2, evaluation(bit_reversed)>
!c = !rns.poly<64, q 0:2, coefficient>
module attributes {ckks.params = #ckks.params<ring_degree = 64, q = [1125899906839937, 1099511623297], p = [1125899906840833], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<fp64>} {

// CHECK-LABEL: func.func @f(%x: !rns.poly<64, q 0:2, evaluation(bit_reversed), int64(e = 0, below = 1)>, %y: !rns.poly<64, q 0:2, evaluation(bit_reversed), int64(e = 0, below = 1)>)
// CHECK-NEXT:  %y_1 = rns.set_representative %y : {{.*}}int64(e = 0, below = 1)> -> {{.*}}fp64(e = 0, below = 2)>
// CHECK-NEXT:  %x_1 = rns.set_representative %x : {{.*}}int64(e = 0, below = 1)> -> {{.*}}fp64(e = 0, below = 2)>
// CHECK-NEXT:  %s = rns.add %x_1, %y_1
// A transform takes words of at most q.
// CHECK-NEXT:  %s_1 = rns.set_representative %s : {{.*}}fp64(e = 0, below = 4)> -> {{.*}}fp64(e = 0, below = 2)>
// CHECK-NEXT:  %p = rns.mul %s_1, %x_1 : {{.*}}fp64(e = 0, below = 2)> -> {{.*}}fp64(e = 0, below = 2)>
// What becomes an integer is centred first.
// CHECK-NEXT:  %p_1 = rns.set_representative %p : {{.*}}fp64(e = 0, below = 2)> -> {{.*}}fp64(e = 0, below = 1)>
// CHECK-NEXT:  %i = ntt.inverse %s_1
// Signs widen nothing.
// CHECK-NEXT:  %n = rns.negate %i : {{.*}}fp64(e = 0, below = 8)>{{$}}
// CHECK-NEXT:  %t = rns.automorphism %n {galois = 5 : i64} : {{.*}}fp64(e = 0, below = 8)>{{$}}
// CHECK-NEXT:  %d = rns.mul_constant %t {constant = #rns.constant<inverse p 0:1>, exponent = 1 : i64} : {{.*}}fp64(e = 0, below = 8)> -> {{.*}}fp64(e = 0, below = 2)>
// CHECK-NEXT:  %f = ntt.forward %d
// The difference of a full word and another one would leave 2^52.
// CHECK-NEXT:  %f_1 = rns.set_representative %f : {{.*}}fp64(e = 0, below = 8)> -> {{.*}}fp64(e = 0, below = 1)>
// CHECK-NEXT:  %r = rns.sub %f_1, %x_1
// CHECK-NEXT:  %r_1 = rns.set_representative %r : {{.*}}fp64(e = 0, below = 3)> -> {{.*}}fp64(e = 0, below = 1)>
// CHECK-NEXT:  %r_2 = rns.set_representative %r_1 : {{.*}}fp64(e = 0, below = 1)> -> {{.*}}int64(e = 0, below = 1)>
// CHECK-NEXT:  %p_2 = rns.set_representative %p_1 : {{.*}}fp64(e = 0, below = 1)> -> {{.*}}int64(e = 0, below = 1)>
// CHECK-NEXT:  func.return %r_2, %p_2
func.func @f(%x : !e, %y : !e) -> (!e, !e) {
  %s = rns.add %x, %y : !e
  %p = rns.mul %s, %x : !e
  %i = ntt.inverse %s {contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>} : !e
  %n = rns.negate %i : !c
  %t = rns.automorphism %n {galois = 5} : !c
  %d = rns.mul_constant %t {constant = #rns.constant<inverse p 0:1>} : !c
  %f = ntt.forward %d {contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>} : !c
  %r = rns.sub %f, %x : !e
  return %r, %p : !e, !e
}

// What is handed through is not converted.
// CHECK-LABEL: func.func @identity(
// CHECK-NEXT:  func.return %x : !rns.poly<64, q 0:2, evaluation(bit_reversed), int64(e = 0, below = 1)>
func.func @identity(%x : !e) -> !e {
  return %x : !e
}

// REMARKS: remark: [track-montgomery] applied: 'rns.mul': reduced %s from 4q to 2q
// REMARKS: remark: [track-montgomery] applied: 'rns.sub': reduced %f from 8q to 1q
// REMARKS: remark: [track-montgomery] applied: inserted 0 conversions (0 words) and 4 reductions
}
