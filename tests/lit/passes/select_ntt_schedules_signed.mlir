// RUN: fhelium-opt %s -p select-ntt-schedules | filecheck %s

// Butterflies take words of at most q. What forward ones leave fills the word: so many times half of the largest prime
// of the basis as fit 2^32, an even number of at most 16. Inverse ones end with products.
!open = !rns.poly<16, q 0:2, evaluation(?)>
!coefficients = !rns.poly<16, q 0:2, coefficient>
!small = !rns.poly<16, q 1:2, coefficient>
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [536870561, 16777153], p = [536870849], digits = 2, scale = 2**20, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<smont32>} {
func.func @f(%x : !open, %y : !small) -> !open {
  // CHECK: %c = ntt.inverse %x {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 0>}
  %c = ntt.inverse %x : !open
  // CHECK: %z = ntt.forward %c {contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>}
  %z = ntt.forward %c : !coefficients
  // CHECK: %s = ntt.forward %y {contract = #ntt.contract<bit_reversed, input = 2, output = 16, exponent = 0>}
  %s = ntt.forward %y : !small
  return %z : !open
}
}
