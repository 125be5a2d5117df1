// RUN: fhelium-opt %s -p track-montgomery --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err
// RUN: fhelium-opt %s -p track-montgomery > %t.once && fhelium-opt %t.once -p track-montgomery > %t.twice && diff %t.once %t.twice

// A key switch of a reduced ciphertext: no conversion; base conversions get reduced operands, the rest is lazy.
!e = !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
!c = !rns.poly<8192, q 0:2, coefficient>
!own = !rns.poly<8192, q 0:2, digits = own(1), coefficient>
!complement = !rns.poly<8192, q 0:2 p 0:1, digits = complement(1), coefficient>
!complement_e = !rns.poly<8192, q 0:2 p 0:1, digits = complement(1), evaluation(bit_reversed)>
!key = !rns.poly<8192, q 0:2 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed)>
!extended = !rns.poly<8192, q 0:2 p 0:1, components = 2, evaluation(bit_reversed)>
!special = !rns.poly<8192, p 0:1, components = 2, evaluation(bit_reversed)>
!special_c = !rns.poly<8192, p 0:1, components = 2, coefficient>
!pair = !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
!pair_c = !rns.poly<8192, q 0:2, components = 2, coefficient>
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {

// CHECK:       resource.declare @k "relinearization_key" {exponent = 1 : i64}
resource.declare @k "relinearization_key"
// CHECK-LABEL: func.func @switch(
// CHECK-NEXT:  %i = ntt.inverse %x {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 0>}
// CHECK-NEXT:  %d = rns.digits %i {size = 1 : i64} : {{.*}}below = 2)>
// CHECK-NEXT:  %v = rns.mul_constant %d {constant = #rns.constant<punctured_inverse>, exponent = 1 : i64}
// CHECK-NEXT:  %v_1 = rns.set_representative %v : {{.*}}mont64(e = 0, below = 2)> -> {{.*}}mont64(e = 0, below = 1)>
// CHECK-NEXT:  %w = rns.base_convert %v_1 {lift = "centred", correction = "none"} : {{.*}} -> {{.*}}mont64(e = 0, below = 2)>
// CHECK-NEXT:  %f = ntt.forward %w {{.*}}mont64(e = 0, below = 2)>
// CHECK-NEXT:  %k = resource.ref @k : {{.*}}mont64(e = 1, below = 1)>
// CHECK-NEXT:  %a = rns.accumulate %x, %f, %k : {{.*}}below = 1)>, {{.*}}below = 4)>, {{.*}} -> {{.*}}mont64(e = 0, below = 2)>
// CHECK-NEXT:  %ap = rns.restrict %a
// CHECK-NEXT:  %ip = ntt.inverse %ap
// CHECK-NEXT:  %ip_1 = rns.set_representative %ip : {{.*}}mont64(e = 0, below = 2)> -> {{.*}}mont64(e = 0, below = 1)>
// CHECK-NEXT:  %m = rns.base_convert %ip_1
// CHECK-NEXT:  %mf = ntt.forward %m
// CHECK-NEXT:  %aq = rns.restrict %a
// CHECK-NEXT:  %s = rns.sub %aq, %mf : {{.*}}below = 2)>, {{.*}}below = 4)>
// CHECK-NEXT:  %r = rns.mul_constant %s {constant = #rns.constant<inverse p 0:1>, exponent = 1 : i64} : {{.*}}below = 6)> -> {{.*}}below = 2)>
// CHECK-NEXT:  %r_1 = rns.set_representative %r : {{.*}}below = 2)> -> {{.*}}below = 1)>
// CHECK-NEXT:  func.return %r_1
func.func @switch(%x : !e) -> !pair {
  %i = ntt.inverse %x {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 0>} : !e
  %d = rns.digits %i {size = 1} : !c
  %v = rns.mul_constant %d {constant = #rns.constant<punctured_inverse>} : !own
  %w = rns.base_convert %v {lift = "centred", correction = "none"} : !own -> !complement
  %f = ntt.forward %w {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !complement
  %k = resource.ref @k : !key
  %a = rns.accumulate %x, %f, %k : !e, !complement_e, !key
  %ap = rns.restrict %a : !extended -> !special
  %ip = ntt.inverse %ap {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 0>} : !special
  %m = rns.base_convert %ip {lift = "canonical", correction = "nearest"} : !special_c -> !pair_c
  %mf = ntt.forward %m {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !pair_c
  %aq = rns.restrict %a : !extended -> !pair
  %s = rns.sub %aq, %mf : !pair
  %r = rns.mul_constant %s {constant = #rns.constant<inverse p 0:1>} : !pair
  return %r : !pair
}
}

// REMARKS-NOT: missed
// REMARKS: remark: [track-montgomery] applied: inserted 0 conversions (0 words) and 3 reductions
