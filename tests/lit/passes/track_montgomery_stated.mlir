// RUN: fhelium-opt %s -p track-montgomery --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err
// RUN: fhelium-opt %s -p track-montgomery > %t.once && fhelium-opt %t.once -p track-montgomery > %t.twice && diff %t.once %t.twice

// What the text states is kept: a representative, the exponent of a constant, the interval of a product.
!e = !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
!one = !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = ?)>
!wide = !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 4)>
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {

// CHECK-LABEL: func.func @stated(
// CHECK-NEXT:  %o = rns.set_representative %x : {{.*}}mont64(e = 0, below = 1)> -> {{.*}}mont64(e = 1, below = 1)>
// CHECK-NEXT:  %d = rns.mul_constant %o {constant = #rns.constant<inverse p 0:1>, exponent = 1 : i64} : {{.*}}mont64(e = 1, below = 1)> -> {{.*}}mont64(e = 1, below = 2)>
// CHECK-NEXT:  %m = rns.mul %d, %d : {{.*}}mont64(e = 1, below = 2)> -> {{.*}}mont64(e = 1, below = 4)>
// CHECK-NEXT:  %m_1 = rns.set_representative %m : {{.*}}mont64(e = 1, below = 4)> -> {{.*}}mont64(e = 0, below = 1)>
func.func @stated(%x : !e) -> !wide {
  %o = rns.set_representative %x : !e -> !one
  %d = rns.mul_constant %o {constant = #rns.constant<inverse p 0:1>, exponent = 1 : i64} : !one
  %m = rns.mul %d, %d : !one -> !wide
  return %m : !wide
}
}

// REMARKS: remark: [track-montgomery] applied: inserted 1 conversions (16384 words) and 0 reductions
