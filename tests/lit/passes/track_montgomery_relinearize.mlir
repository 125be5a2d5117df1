// RUN: fhelium-opt %s -p track-montgomery --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err
// RUN: fhelium-opt %s -p track-montgomery > %t.once && fhelium-opt %t.once -p track-montgomery > %t.twice && diff %t.once %t.twice

// A key switch and a rescale of a product: the conversion coefficients, N^-1 and the limbs' constants carry the
// factor R, so only the program's input is converted.
!e = !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
!c = !rns.poly<8192, q 0:2, coefficient>
!own = !rns.poly<8192, q 0:2, digits = own(1), coefficient>
!complement = !rns.poly<8192, q 0:2 p 0:1, digits = complement(1), coefficient>
!complement_e = !rns.poly<8192, q 0:2 p 0:1, digits = complement(1), evaluation(bit_reversed)>
!key = !rns.poly<8192, q 0:2 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed)>
!extended = !rns.poly<8192, q 0:2 p 0:1, components = 2, evaluation(bit_reversed)>
!pair = !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
!last = !rns.poly<8192, q 1:2, components = 2, evaluation(bit_reversed)>
!last_c = !rns.poly<8192, q 1:2, components = 2, coefficient>
!low = !rns.poly<8192, q 0:1, components = 2, evaluation(bit_reversed)>
!low_c = !rns.poly<8192, q 0:1, components = 2, coefficient>
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {

resource.declare @k "relinearization_key"
// CHECK-LABEL: func.func @relinearize(
// CHECK-NEXT:  %x_1 = rns.set_representative %x : {{.*}}mont64(e = 0, below = 1)> -> {{.*}}mont64(e = 1, below = 2)>
// CHECK-NEXT:  %m = rns.mul %x_1, %x_1 : {{.*}} -> {{.*}}mont64(e = 1, below = 2)>
// CHECK-NEXT:  %i = ntt.inverse %m {{.*}}exponent = -1>
// CHECK:       %w = rns.base_convert %v_1 {{.*}}mont64(e = 0, below = 1)> -> {{.*}}mont64(e = 1, below = 2)>
// CHECK:       %a = rns.accumulate %m, %f, %k
// CHECK:       %w2 = rns.base_convert %il_1 {{.*}}mont64(e = 0, below = 1)> -> {{.*}}below = 2)>
// CHECK:       %r = rns.mul_constant %s {{.*}} -> {{.*}}mont64(e = 0, below = 2)>
func.func @relinearize(%x : !e) -> !low {
  %m = rns.mul %x, %x : !e
  %i = ntt.inverse %m {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 0>} : !e
  %d = rns.digits %i {size = 1} : !c
  %v = rns.mul_constant %d {constant = #rns.constant<punctured_inverse>} : !own
  %w = rns.base_convert %v {lift = "centred", correction = "none"} : !own -> !complement
  %f = ntt.forward %w {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !complement
  %k = resource.ref @k : !key
  %a = rns.accumulate %m, %f, %k : !e, !complement_e, !key
  %p = rns.restrict %a : !extended -> !pair
  %mm = rns.pad %m {components = 2} : !e
  %y = rns.add %mm, %p : !pair
  %l = rns.restrict %y : !pair -> !last
  %il = ntt.inverse %l {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 0>} : !last
  %w2 = rns.base_convert %il {lift = "canonical", correction = "nearest"} : !last_c -> !low_c
  %f2 = ntt.forward %w2 {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !low_c
  %q = rns.restrict %y : !pair -> !low
  %s = rns.sub %q, %f2 : !low
  %r = rns.mul_constant %s {constant = #rns.constant<inverse q 1:2>} : !low
  return %r : !low
}
}

// REMARKS: remark: [track-montgomery] applied: inserted 1 conversions (16384 words) and
