// RUN: fhelium-opt %s -p convert-ckks-to-rns --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err

!ct = !ckks.ciphertext<level = 2, scale = 2**24>
!low = !ckks.ciphertext<level = 1, scale = 2**24>
// Two digits of two limbs for three primes: the second digit is shorter. Division by P = p0 p1.
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [268434977, 16777441, 16777153], p = [268435361, 268435009], digits = 2, scale = 2**24, secret = ternary, insecure>} {

// Two limbs are one digit.
// CHECK-LABEL: func.func @fewer_digits(
// CHECK:         rns.base_convert {{.*}} : !rns.poly<16, q 0:2, digits = own(2), coefficient> -> !rns.poly<16, q 0:2 p 0:2, digits = complement(2), coefficient>
// REMARKS:     convert_ckks_to_rns_digits.mlir:[[# @LINE + 2]]:8: remark: [convert-ckks-to-rns] analysis: 'ckks.conjugate': 2 limbs in digits of 2 make 1 digits, fewer than the 2 of the parameters
func.func @fewer_digits(%x : !low) -> !low {
  %z = ckks.conjugate %x : !low
  return %z : !low
}

// CHECK-LABEL: func.func @two_digits(
// CHECK:         [[D:%[0-9]+]] = rns.digits %{{[0-9]+}} {size = 2 : i64} : !rns.poly<16, q 0:3, coefficient>
// CHECK-NEXT:    [[V:%[0-9]+]] = rns.mul_constant [[D]] {constant = #rns.constant<punctured_inverse>}
// CHECK-NEXT:    rns.base_convert [[V]] {lift = "centred", correction = "none"} : !rns.poly<16, q 0:3, digits = own(2), coefficient> -> !rns.poly<16, q 0:3 p 0:2, digits = complement(2), coefficient>
// CHECK:         resource.ref @galois_key_31 : !rns.poly<16, q 0:3 p 0:2, components = 2, digits = key(2), evaluation(bit_reversed)>
// CHECK:         [[R:%[0-9]+]] = ntt.inverse %{{[0-9]+}} : !rns.poly<16, p 0:2, components = 2, evaluation(bit_reversed)>
// With two primes the residues are punctured before the conversion.
// CHECK-NEXT:    [[W:%[0-9]+]] = rns.mul_constant [[R]] {constant = #rns.constant<punctured_inverse>}
// CHECK-NEXT:    rns.base_convert [[W]] {lift = "canonical", correction = "nearest"} : !rns.poly<16, p 0:2, components = 2, coefficient> -> !rns.poly<16, q 0:3, components = 2, coefficient>
// CHECK:         rns.mul_constant %{{[0-9]+}} {constant = #rns.constant<inverse p 0:2>}
// REMARKS-NOT: remark:
func.func @two_digits(%x : !ct) -> !ct {
  %z = ckks.conjugate %x : !ct
  return %z : !ct
}
}
