// RUN: fhelium-opt %s -p select-ntt-schedules | filecheck %s

// Butterflies take words of at most q. Their results are as wide as the words of a basis can be: floor(2^53 / q).
!open = !rns.poly<64, q 0:2, evaluation(?)>
!coefficients = !rns.poly<64, q 0:2, coefficient>
!small = !rns.poly<64, q 1:2, coefficient>
module attributes {ckks.params = #ckks.params<ring_degree = 64, q = [1125899906839937, 1099511623297], p = [1125899906840833], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<fp64>} {
func.func @f(%x : !open, %y : !small) -> !open {
  // CHECK: %c = ntt.inverse %x {contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>}
  %c = ntt.inverse %x : !open
  // CHECK: %z = ntt.forward %c {contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>}
  %z = ntt.forward %c : !coefficients
  // CHECK: %s = ntt.forward %y {contract = #ntt.contract<bit_reversed, input = 2, output = 8192, exponent = 0>}
  %s = ntt.forward %y : !small
  return %z : !open
}
}
