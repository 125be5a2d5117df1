// RUN: fhelium-opt %s -p track-montgomery --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err
// RUN: fhelium-opt %s -p track-montgomery > %t.once && fhelium-opt %t.once -p track-montgomery > %t.twice && diff %t.once %t.twice

// q0 has 60 bits, q1 50: integers and doubles by row. Each group is reduced where it has to be, and an exponent changes
// only integers.
// CHECK-LABEL: func.func @f(%x: !rns.poly<64, q 0:2, evaluation(bit_reversed), int64(e = 0, below = 1)>, %y: !rns.poly<64, q 0:2, evaluation(bit_reversed), int64(e = 0, below = 1)>)
// CHECK-NEXT:  %y_1 = rns.set_representative %y : {{.*}}int64(e = 0, below = 1)> -> {{.*}}mont64(e = 0, below = 1) fp64(e = 0, below = 2)>
// CHECK-NEXT:  %x_1 = rns.set_representative %x : {{.*}}int64(e = 0, below = 1)> -> {{.*}}mont64(e = 0, below = 1) fp64(e = 0, below = 2)>
// CHECK-NEXT:  %x_2 = rns.set_representative %x_1 : {{.*}} -> {{.*}}mont64(e = 1, below = 2) fp64(e = 0, below = 2)>
// CHECK-NEXT:  %s = rns.add %x_1, %y_1
// CHECK-NEXT:  %s_1 = rns.set_representative %s : {{.*}}mont64(e = 0, below = 2) fp64(e = 0, below = 4)> -> {{.*}}mont64(e = 1, below = 2) fp64(e = 0, below = 4)>
// A transform takes doubles of at most q, the integers are narrow enough.
// CHECK-NEXT:  %s_2 = rns.set_representative %s : {{.*}} -> {{.*}}mont64(e = 0, below = 2) fp64(e = 0, below = 2)>
// CHECK-NEXT:  %p = rns.mul %s_1, %x_2 : {{.*}} -> {{.*}}mont64(e = 1, below = 2) fp64(e = 0, below = 2)>
// CHECK-NEXT:  %p_1 = rns.set_representative %p : {{.*}} -> {{.*}}mont64(e = 0, below = 1) fp64(e = 0, below = 1)>
// CHECK-NEXT:  %i = ntt.inverse %s_2
// CHECK-NEXT:  %n = rns.negate %i : {{.*}}mont64(e = 0, below = 2) fp64(e = 0, below = 8)>{{$}}
// CHECK-NEXT:  %d = rns.mul_constant %n {constant = #rns.constant<inverse p 0:1>, exponent = 1 : i64} : {{.*}}mont64(e = 0, below = 3) fp64(e = 0, below = 8)> -> {{.*}}mont64(e = 0, below = 2) fp64(e = 0, below = 2)>
// CHECK-NEXT:  %f = ntt.forward %d
// The difference would leave 2^52; integers have room.
// CHECK-NEXT:  %f_1 = rns.set_representative %f : {{.*}}mont64(e = 0, below = 4) fp64(e = 0, below = 8)> -> {{.*}}mont64(e = 0, below = 4) fp64(e = 0, below = 1)>
// CHECK-NEXT:  %r = rns.sub %f_1, %x_1
// CHECK-NEXT:  %r_1 = rns.set_representative %r : {{.*}}mont64(e = 0, below = 5) fp64(e = 0, below = 3)> -> {{.*}}mont64(e = 0, below = 1) fp64(e = 0, below = 1)>
// CHECK-NEXT:  %r_2 = rns.set_representative %r_1 : {{.*}} -> {{.*}}int64(e = 0, below = 1)>
// CHECK-NEXT:  %p_2 = rns.set_representative %p_1 : {{.*}}mont64(e = 0, below = 1) fp64(e = 0, below = 1)> -> {{.*}}int64(e = 0, below = 1)>
// CHECK-NEXT:  func.return %r_2, %p_2
// REMARKS: remark: [track-montgomery] applied: 'rns.mul': converted %s from exponent 0 to 1, below 2q and 4q: 64 words
// REMARKS: remark: [track-montgomery] applied: 'ntt.inverse': reduced %s from 2q and 4q to 2q and 2q
// REMARKS: remark: [track-montgomery] applied: 'rns.sub': reduced %f from 4q and 8q to 4q and 1q
// REMARKS: remark: [track-montgomery] applied: inserted 3 conversions (192 words) and 3 reductions
!e = !rns.poly<64, q 0:2, evaluation(bit_reversed)>
!c = !rns.poly<64, q 0:2, coefficient>
module attributes {ckks.params = #ckks.params<ring_degree = 64, q = [1152921504606844289, 1125899906839937], p = [1152921504606844417], digits = 2, scale = 2**45, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mixed64>} {
func.func @f(%x : !e, %y : !e) -> (!e, !e) {
  %s = rns.add %x, %y : !e
  %p = rns.mul %s, %x : !e
  %i = ntt.inverse %s {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 0>, float_contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>} : !e
  %n = rns.negate %i : !c
  %d = rns.mul_constant %n {constant = #rns.constant<inverse p 0:1>} : !c
  %f = ntt.forward %d {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, float_contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>} : !c
  %r = rns.sub %f, %x : !e
  return %r, %p : !e, !e
}
}
