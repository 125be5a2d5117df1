// RUN: fhelium-opt %s -p place-domains --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err

!e = !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
!open = !rns.poly<8192, q 0:2, evaluation(?)>
!c = !rns.poly<8192, q 0:2, coefficient>

!pair = !rns.poly<8192, q 0:2, components = 2, evaluation(?)>
!pair_c = !rns.poly<8192, q 0:2, components = 2, coefficient>

// The sum of two transforms is transformed once; so is a sum of three.
// CHECK-LABEL: func.func @sum(
// CHECK-NEXT:    %s = rns.add %x, %y : !rns.poly<8192, q 0:2, coefficient>
// CHECK-NEXT:    %d = rns.sub %s, %z : !rns.poly<8192, q 0:2, coefficient>
// CHECK-NEXT:    %d_1 = ntt.forward %d : !rns.poly<8192, q 0:2, coefficient>
// CHECK-NEXT:    func.return %d_1
// REMARKS: place_domains_linear.mlir:[[# @LINE + 4]]:8: remark: [place-domains] applied: 'rns.add': one ntt.forward after rns.add instead of two before it
func.func @sum(%x : !c, %y : !c, %z : !c) -> !open {
  %a = ntt.forward %x : !c
  %b = ntt.forward %y : !c
  %s = rns.add %a, %b : !open
  %c = ntt.forward %z : !c
  %d = rns.sub %s, %c : !open
  return %d : !open
}

// The same for inverse transforms, through ops with one operand.
// CHECK-LABEL: func.func @difference(
// CHECK-NEXT:    %n = rns.negate %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
// CHECK-NEXT:    %m = rns.mul_constant %y {constant = #rns.constant<inverse p 0:1>} : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
// CHECK-NEXT:    %s = rns.sub %n, %m
// CHECK-NEXT:    %s_1 = ntt.inverse %s
// CHECK-NEXT:    func.return %s_1
func.func @difference(%x : !e, %y : !e) -> !c {
  %a = ntt.inverse %x : !e
  %b = ntt.inverse %y : !e
  %n = rns.negate %a : !c
  %m = rns.mul_constant %b {constant = #rns.constant<inverse p 0:1>} : !c
  %s = rns.sub %n, %m : !c
  return %s : !c
}

// A transform with another use would not go away: nothing changes.
// CHECK-LABEL: func.func @used(
// CHECK-COUNT-2: ntt.forward
// CHECK-NEXT:    %s = rns.add %a, %b
// CHECK-NEXT:    func.return %s, %a
func.func @used(%x : !c, %y : !c) -> (!open, !open) {
  %a = ntt.forward %x : !c
  %b = ntt.forward %y : !c
  %s = rns.add %a, %b : !open
  return %s, %a : !open, !open
}

// Linear ops on transformed values, transformed back, are the same ops on the originals; the transforms that the
// product needs stay.
// CHECK-LABEL: func.func @back(
// CHECK-NEXT:    %a = ntt.forward %x
// CHECK-NEXT:    %f = rns.extract %a {first = 1 : i64, count = 1 : i64}
// CHECK-NEXT:    %f_1 = rns.extract %x {first = 1 : i64, count = 1 : i64} : !rns.poly<8192, q 0:2, components = 2, coefficient>
// CHECK-NEXT:    %n = rns.negate %f_1 : !rns.poly<8192, q 0:2, coefficient>
// CHECK-NEXT:    %m = rns.mul %f, %f
// CHECK-NEXT:    func.return %n, %m
// REMARKS: place_domains_linear.mlir:[[# @LINE + 5]]:8: remark: [place-domains] applied: 'ntt.inverse': linear ops replace ntt.inverse: all operands are known there
func.func @back(%x : !pair_c) -> (!c, !open) {
  %a = ntt.forward %x : !pair_c
  %f = rns.extract %a {first = 1 : i64, count = 1 : i64} : !pair
  %n = rns.negate %f : !open
  %i = ntt.inverse %n : !open
  %m = rns.mul %f, %f : !open
  return %i, %m : !c, !open
}

// A product does not commute with a transform.
// CHECK-LABEL: func.func @product(
// CHECK:         ntt.forward
// CHECK:         rns.mul
// CHECK:         ntt.inverse
func.func @product(%x : !c) -> !c {
  %a = ntt.forward %x : !c
  %m = rns.mul %a, %a : !open
  %i = ntt.inverse %m : !open
  return %i : !c
}
