// RUN: fhelium-opt %s -p place-domains --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err

!e = !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
!open = !rns.poly<8192, q 0:2, evaluation(?)>
!c = !rns.poly<8192, q 0:2, coefficient>

// A transform of its inverse's result is that one's operand, in both directions.
// CHECK-LABEL: func.func @evaluation(
// CHECK-NEXT:    func.return %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
// REMARKS: place_domains_cancel.mlir:[[# @LINE + 3]]:8: remark: [place-domains] applied: 'ntt.forward': ntt.forward undoes the transform before it
func.func @evaluation(%x : !e) -> !open {
  %c = ntt.inverse %x : !e
  %y = ntt.forward %c : !c
  return %y : !open
}

// CHECK-LABEL: func.func @coefficient(
// CHECK-NEXT:    %n = rns.negate %x
// CHECK-NEXT:    func.return %n
func.func @coefficient(%x : !c) -> !c {
  %e = ntt.forward %x : !c
  %y = ntt.inverse %e : !open
  %n = rns.negate %y : !c
  return %n : !c
}

// A value that is needed in both domains is transformed once.
// CHECK-LABEL: func.func @both(
// CHECK-NEXT:    %c = ntt.inverse %x
// CHECK-NEXT:    func.return %c, %x
func.func @both(%x : !e) -> (!c, !open) {
  %c = ntt.inverse %x : !e
  %y = ntt.forward %c : !c
  return %c, %y : !c, !open
}

// Decided representatives differ: nothing may be replaced.
!one = !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!four = !rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 4)>
!two = !rns.poly<8192, q 0:2, coefficient, mont64(e = 0, below = 2)>
// CHECK-LABEL: func.func @tracked(
// CHECK:         ntt.inverse
// CHECK:         ntt.forward
// REMARKS: place_domains_cancel.mlir:[[# @LINE + 3]]:8: remark: [place-domains] missed: 'ntt.forward': ntt.forward stays: its result and its original differ in the below
func.func @tracked(%x : !one) -> !four {
  %c = ntt.inverse %x {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 0>} : !one
  %y = ntt.forward %c {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !two
  return %y : !four
}
// REMARKS: remark: [place-domains] applied: 5 of 8 transforms removed
