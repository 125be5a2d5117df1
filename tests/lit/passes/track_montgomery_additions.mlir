// RUN: fhelium-opt %s -p track-montgomery --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err
// RUN: fhelium-opt %s -p track-montgomery > %t.once && fhelium-opt %t.once -p track-montgomery > %t.twice && diff %t.once %t.twice

// A 64-bit word holds 16 q for primes of 60 bits. Twenty summands need one reduction on the way, where the
// seventeenth would leave the word, and one at the end.
!p = !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {

// CHECK-LABEL: func.func @twenty(
// CHECK-NEXT:  %s2 = rns.add %x, %x : {{.*}}below = 1)>
// CHECK-NEXT:  %s3 = rns.add %s2, %x : {{.*}}below = 2)>, {{.*}}below = 1)>
// CHECK-NEXT:  %s4 = rns.add %s3, %x : {{.*}}below = 3)>, {{.*}}below = 1)>
// CHECK-NEXT:  %s5 = rns.add %s4, %x : {{.*}}below = 4)>, {{.*}}below = 1)>
// CHECK-NEXT:  %s6 = rns.add %s5, %x : {{.*}}below = 5)>, {{.*}}below = 1)>
// CHECK-NEXT:  %s7 = rns.add %s6, %x : {{.*}}below = 6)>, {{.*}}below = 1)>
// CHECK-NEXT:  %s8 = rns.add %s7, %x : {{.*}}below = 7)>, {{.*}}below = 1)>
// CHECK-NEXT:  %s9 = rns.add %s8, %x : {{.*}}below = 8)>, {{.*}}below = 1)>
// CHECK-NEXT:  %s10 = rns.add %s9, %x : {{.*}}below = 9)>, {{.*}}below = 1)>
// CHECK-NEXT:  %s11 = rns.add %s10, %x : {{.*}}below = 10)>, {{.*}}below = 1)>
// CHECK-NEXT:  %s12 = rns.add %s11, %x : {{.*}}below = 11)>, {{.*}}below = 1)>
// CHECK-NEXT:  %s13 = rns.add %s12, %x : {{.*}}below = 12)>, {{.*}}below = 1)>
// CHECK-NEXT:  %s14 = rns.add %s13, %x : {{.*}}below = 13)>, {{.*}}below = 1)>
// CHECK-NEXT:  %s15 = rns.add %s14, %x : {{.*}}below = 14)>, {{.*}}below = 1)>
// CHECK-NEXT:  %s16 = rns.add %s15, %x : {{.*}}below = 15)>, {{.*}}below = 1)>
// CHECK-NEXT:  %s16_1 = rns.set_representative %s16 : {{.*}}below = 16)> -> {{.*}}below = 1)>
// CHECK-NEXT:  %s17 = rns.add %s16_1, %x : {{.*}}below = 1)>{{$}}
// CHECK-NEXT:  %s18 = rns.add %s17, %x : {{.*}}below = 2)>, {{.*}}below = 1)>
// CHECK-NEXT:  %s19 = rns.add %s18, %x : {{.*}}below = 3)>, {{.*}}below = 1)>
// CHECK-NEXT:  %s20 = rns.add %s19, %x : {{.*}}below = 4)>, {{.*}}below = 1)>
// CHECK-NEXT:  %s20_1 = rns.set_representative %s20 : {{.*}}below = 5)> -> {{.*}}below = 1)>
// CHECK-NEXT:  func.return %s20_1
func.func @twenty(%x : !p) -> !p {
  %s2 = rns.add %x, %x : !p
  %s3 = rns.add %s2, %x : !p
  %s4 = rns.add %s3, %x : !p
  %s5 = rns.add %s4, %x : !p
  %s6 = rns.add %s5, %x : !p
  %s7 = rns.add %s6, %x : !p
  %s8 = rns.add %s7, %x : !p
  %s9 = rns.add %s8, %x : !p
  %s10 = rns.add %s9, %x : !p
  %s11 = rns.add %s10, %x : !p
  %s12 = rns.add %s11, %x : !p
  %s13 = rns.add %s12, %x : !p
  %s14 = rns.add %s13, %x : !p
  %s15 = rns.add %s14, %x : !p
  %s16 = rns.add %s15, %x : !p
  %s17 = rns.add %s16, %x : !p
  %s18 = rns.add %s17, %x : !p
  %s19 = rns.add %s18, %x : !p
  %s20 = rns.add %s19, %x : !p
  return %s20 : !p
}

// Sixteen fit: the only reduction is that of the result.
// CHECK-LABEL: func.func @sixteen(
// CHECK-COUNT-15: rns.add
// CHECK-NEXT:  %s16_1 = rns.set_representative %s16 : {{.*}}below = 16)> -> {{.*}}below = 1)>
// CHECK-NEXT:  func.return %s16_1
func.func @sixteen(%x : !p) -> !p {
  %s2 = rns.add %x, %x : !p
  %s3 = rns.add %s2, %x : !p
  %s4 = rns.add %s3, %x : !p
  %s5 = rns.add %s4, %x : !p
  %s6 = rns.add %s5, %x : !p
  %s7 = rns.add %s6, %x : !p
  %s8 = rns.add %s7, %x : !p
  %s9 = rns.add %s8, %x : !p
  %s10 = rns.add %s9, %x : !p
  %s11 = rns.add %s10, %x : !p
  %s12 = rns.add %s11, %x : !p
  %s13 = rns.add %s12, %x : !p
  %s14 = rns.add %s13, %x : !p
  %s15 = rns.add %s14, %x : !p
  %s16 = rns.add %s15, %x : !p
  return %s16 : !p
}

// Differences and negations widen the interval too; two wide operands need one reduction, of the wider one.
// CHECK-LABEL: func.func @wide(
// CHECK:       %d_1 = rns.set_representative %d : {{.*}}below = 10)> -> {{.*}}below = 1)>
// CHECK:       %r = rns.sub %c, %d_1 : {{.*}}below = 8)>, {{.*}}below = 1)>
// CHECK-NEXT:  %n = rns.negate %r : {{.*}}below = 9)>
// CHECK-NEXT:  %n_1 = rns.set_representative %n : {{.*}}below = 10)> -> {{.*}}below = 1)>
func.func @wide(%x : !p) -> !p {
  %a = rns.sub %x, %x : !p
  %b = rns.sub %a, %a : !p
  %c = rns.sub %b, %b : !p
  %d = rns.add %c, %a : !p
  %r = rns.sub %c, %d : !p
  %n = rns.negate %r : !p
  return %n : !p
}
}

// REMARKS: remark: [track-montgomery] applied: 'rns.add': reduced %s16 from 16q to 1q
// REMARKS: remark: [track-montgomery] applied: 'func.return': reduced %s20 from 5q to 1q
// REMARKS: remark: [track-montgomery] applied: inserted 0 conversions (0 words) and 5 reductions
