// RUN: fhelium-opt %s -p select-ntt-schedules --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err

// Every transform gets a contract, every evaluation domain its order; a stated contract stays.
!open = !rns.poly<8192, q 0:2, evaluation(?)>
!coefficients = !rns.poly<8192, q 0:2, coefficient>
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {
// CHECK-LABEL: func.func @f(%x: !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
func.func @f(%x : !open) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)> {
  // CHECK: %c = ntt.inverse %x {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 0>} : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  %c = ntt.inverse %x : !open
  // CHECK: %y = ntt.forward %c {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !rns.poly<8192, q 0:2, coefficient>
  %y = ntt.forward %c : !coefficients
  // CHECK: %z = ntt.forward %c {contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>} : !rns.poly<8192, q 0:2, coefficient>
  %z = ntt.forward %c {contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>} : !coefficients
  // CHECK: %s = rns.add %y, %z : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  %s = rns.add %y, %z : !open, !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  return %s : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}
}

// REMARKS: remark: [select-ntt-schedules] analysis: 'ntt.forward': kept the contract that is stated
// REMARKS: remark: [select-ntt-schedules] applied: 1 ntt.inverse: bit_reversed, below 2q in, below 2q out
// REMARKS: remark: [select-ntt-schedules] applied: 1 ntt.forward: bit_reversed, below 4q in, below 4q out
