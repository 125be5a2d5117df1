// RUN: fhelium-opt %s -p place-domains --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err

!e = !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
!open = !rns.poly<8192, q 0:2, evaluation(?)>
!c = !rns.poly<8192, q 0:2, coefficient>

// The same transform of the same value is computed once, also where other ops stand between.
// CHECK-LABEL: func.func @twice(
// CHECK-NEXT:    %a = ntt.inverse %x
// CHECK-NEXT:    %n = rns.negate %a
// CHECK-NEXT:    %s = rns.add %n, %a
// CHECK-NEXT:    func.return %s
// REMARKS: place_domains_reuse.mlir:[[# @LINE + 4]]:8: remark: [place-domains] applied: 'ntt.inverse': ntt.inverse was computed before
func.func @twice(%x : !e) -> !c {
  %a = ntt.inverse %x : !e
  %n = rns.negate %a : !c
  %b = ntt.inverse %x : !e
  %s = rns.add %n, %b : !c
  return %s : !c
}

// Another contract is another result.
// CHECK-LABEL: func.func @contracts(
// CHECK-COUNT-2: ntt.inverse
func.func @contracts(%x : !e) -> (!c, !c) {
  %a = ntt.inverse %x {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 0>} : !e
  %b = ntt.inverse %x {contract = #ntt.contract<bit_reversed, input = 2, output = 4, exponent = 0>} : !e
  return %a, %b : !c, !c
}
