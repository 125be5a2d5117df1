// RUN: fhelium-opt %s -p form-fusion-regions --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err

!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
!m = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 1)>
!m2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>
!c2 = !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 2)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {

// The conversion of a product that others read too: in the product's region it is a second buffer to write, in its
// consumer's it costs nothing.
// CHECK-LABEL: func.func @waits(
// CHECK-NEXT:    %a = fusion.region(%x_1 = %x : {{.*}}, %y_1 = %y : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %a_1 = rns.mul %x_1, %y_1
// CHECK-NEXT:      fusion.yield %a_1
// CHECK-NEXT:    }
// CHECK-NEXT:    %i = fusion.region(%a_1 = %a : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %r = rns.set_representative %a_1 : {{.*}}mont64(e = 1, below = 2)> -> {{.*}}mont64(e = 0, below = 2)>
// CHECK-NEXT:      %i_1 = ntt.inverse %r
// CHECK-NEXT:      fusion.yield %i_1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %a, %i
// REMARKS:      .mlir:[[# @LINE + 4]]:8: remark: [form-fusion-regions] applied: 'ntt.inverse': fused with its producer rns.set_representative
func.func @waits(%x : !m, %y : !m) -> (!m2, !c2) {
  %a = rns.mul %x, %y : !m -> !m2
  %r = rns.set_representative %a : !m2 -> !e2
  %i = ntt.inverse %r {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 0>} : !e2
  return %a, %i : !m2, !c2
}

// Without another reader it joins its producer at once.
// CHECK-LABEL: func.func @alone(
// CHECK-NEXT:    %r = fusion.region(%x_1 = %x : {{.*}}, %y_1 = %y : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %a = rns.mul %x_1, %y_1
// CHECK-NEXT:      %r_1 = rns.set_representative %a : {{.*}}mont64(e = 1, below = 2)> -> {{.*}}mont64(e = 0, below = 1)>
// CHECK-NEXT:      fusion.yield %r_1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r
// REMARKS-NEXT: .mlir:[[# @LINE + 3]]:8: remark: [form-fusion-regions] applied: 'rns.set_representative': fused with its producer rns.mul
func.func @alone(%x : !m, %y : !m) -> !e {
  %a = rns.mul %x, %y : !m -> !m2
  %r = rns.set_representative %a : !m2 -> !e
  return %r : !e
}
// REMARKS-NOT: remark:
}
