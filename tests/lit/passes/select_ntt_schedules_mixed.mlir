// RUN: fhelium-opt %s -p select-ntt-schedules --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err

// A contract for each group of primes, by the group's primes of the basis.
!open = !rns.poly<64, q 0:2, evaluation(?)>
!c = !rns.poly<64, q 0:2, coefficient>
module attributes {ckks.params = #ckks.params<ring_degree = 64, q = [1152921504606844289, 1125899906839937], p = [1152921504606844417], digits = 2, scale = 2**45, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mixed64>} {
func.func @f(%x : !open) -> !open {
  // CHECK: %c = ntt.inverse %x {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 0>, float_contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>}
  %c = ntt.inverse %x : !open
  // CHECK: %z = ntt.forward %c {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, float_contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>}
  %z = ntt.forward %c : !c
  // What is stated is kept.
  // CHECK: %i = ntt.inverse %z {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 1>, float_contract = #ntt.contract<bit_reversed, input = 1, output = 8, exponent = 0>}
  %i = ntt.inverse %z {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 1>, float_contract = #ntt.contract<bit_reversed, input = 1, output = 8, exponent = 0>} : !open
  %r = ntt.forward %i : !c
  return %r : !open
}
}
// REMARKS: remark: [select-ntt-schedules] applied: 1 ntt.inverse: bit_reversed, below 2q in, below 2q out
// REMARKS: remark: [select-ntt-schedules] applied: 1 ntt.inverse: bit_reversed, below 2q in, below 8q out
