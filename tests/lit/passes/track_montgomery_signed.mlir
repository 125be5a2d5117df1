// RUN: fhelium-opt %s -p 'select-ntt-schedules,track-montgomery' --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err
// RUN: fhelium-opt %s -p 'select-ntt-schedules,track-montgomery' > %t.once && fhelium-opt %t.once -p 'select-ntt-schedules,track-montgomery' > %t.twice && diff %t.once %t.twice

// Arguments and results are canonical integers, inside there are signed words. 16 times half a prime fit the word.
!e = !rns.poly<16, q 0:2, evaluation(?)>
!c = !rns.poly<16, q 0:2, coefficient>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [268435009, 268434977], p = [268435361], digits = 2, scale = 2**20, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<smont32>} {

// CHECK-LABEL: func.func @f(%x: !rns.poly<16, q 0:2, evaluation(bit_reversed), int32(e = 0, below = 1)>)
// CHECK-NEXT:  %x_1 = rns.set_representative %x : {{.*}}int32(e = 0, below = 1)> -> {{.*}}smont32(e = 0, below = 2)>
// CHECK-NEXT:  %i = ntt.inverse %x_1 {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 0>}
// A change of sign widens the interval: its lower end belongs to it, its upper end does not.
// CHECK-NEXT:  %t = rns.automorphism %i {galois = 5 : i64} : {{.*}}smont32(e = 0, below = 2)>{{$}}
// CHECK-NEXT:  %t_1 = rns.set_representative %t : {{.*}}smont32(e = 0, below = 3)> -> {{.*}}smont32(e = 0, below = 2)>
// CHECK-NEXT:  %f = ntt.forward %t_1 {contract = #ntt.contract<bit_reversed, input = 2, output = 16, exponent = 0>}
// One step towards 0 makes room for the difference.
// CHECK-NEXT:  %f_1 = rns.set_representative %f : {{.*}}smont32(e = 0, below = 16)> -> {{.*}}smont32(e = 0, below = 8)>
// CHECK-NEXT:  %r = rns.sub %f_1, %x_1
// CHECK-NEXT:  %r_1 = rns.set_representative %r : {{.*}}smont32(e = 0, below = 10)> -> {{.*}}int32(e = 0, below = 1)>
// CHECK-NEXT:  func.return %r_1
func.func @f(%x : !e) -> !e {
  %i = ntt.inverse %x : !e
  %t = rns.automorphism %i {galois = 5} : !c
  %f = ntt.forward %t : !c
  %r = rns.sub %f, %x : !e
  return %r : !e
}

// Both factors of a product are at exponent 1, what crosses the interface at 0.
// CHECK-LABEL: func.func @g(
// CHECK-NEXT:  %x_1 = rns.set_representative %x : {{.*}}int32(e = 0, below = 1)> -> {{.*}}smont32(e = 0, below = 2)>
// CHECK-NEXT:  %x_2 = rns.set_representative %x_1 : {{.*}}smont32(e = 0, below = 2)> -> {{.*}}smont32(e = 1, below = 2)>
// CHECK-NEXT:  %p = rns.mul %x_2, %x_2
// CHECK-NEXT:  %p_1 = rns.set_representative %p : {{.*}}smont32(e = 1, below = 2)> -> {{.*}}smont32(e = 0, below = 2)>
// CHECK-NEXT:  %p_2 = rns.set_representative %p_1 : {{.*}}smont32(e = 0, below = 2)> -> {{.*}}int32(e = 0, below = 1)>
func.func @g(%x : !e) -> !e {
  %p = rns.mul %x, %x : !e
  return %p : !e
}

// What is handed through is not converted.
// CHECK-LABEL: func.func @identity(
// CHECK-NEXT:  func.return %x : !rns.poly<16, q 0:2, evaluation(bit_reversed), int32(e = 0, below = 1)>
func.func @identity(%x : !e) -> !e {
  return %x : !e
}

// REMARKS: remark: [track-montgomery] applied: 'ntt.forward': reduced %t from 3q to 2q
// REMARKS: remark: [track-montgomery] applied: 'rns.sub': reduced %f from 16q to 8q
}
