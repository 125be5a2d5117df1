// RUN: fhelium-opt %s -p form-fusion-regions --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err

!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
!m = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 1)>
!m2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>
!mm2 = !rns.poly<16, q 0:2, components = 2, evaluation(bit_reversed), mont64(e = 1, below = 2)>
!pair2 = !rns.poly<16, q 0:2, components = 2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
!pair_c2 = !rns.poly<16, q 0:2, components = 2, coefficient, mont64(e = 0, below = 2)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {

// Components are computed side by side by one kernel ...
// CHECK-LABEL: func.func @pointwise(
// CHECK-NEXT:    %p = fusion.region(%x_1 = %x : {{.*}}, %y_1 = %y : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %a = rns.mul %x_1, %y_1
// CHECK-NEXT:      %b = rns.mul %x_1, %x_1
// CHECK-NEXT:      %p_1 = rns.pack %a, %b
// CHECK-NEXT:      fusion.yield %p_1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %p
// REMARKS:      .mlir:[[# @LINE + 5]]:8: remark: [form-fusion-regions] applied: 'rns.pack': fused with its producer rns.mul
// REMARKS-NEXT: .mlir:[[# @LINE + 4]]:8: remark: [form-fusion-regions] applied: 'rns.pack': fused with its producer rns.mul
func.func @pointwise(%x : !m, %y : !m) -> !mm2 {
  %a = rns.mul %x, %y : !m -> !m2
  %b = rns.mul %x, %x : !m -> !m2
  %p = rns.pack %a, %b : !m2, !m2
  return %p : !mm2
}

// ... but a transform takes each component in programs of its own.
// CHECK-LABEL: func.func @not_with_a_transform(
// CHECK-NEXT:    %p = fusion.region(%x_1 = %x : {{.*}}, %y_1 = %y : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %a = rns.add %x_1, %y_1
// CHECK-NEXT:      %p_1 = rns.pack %a, %a
// CHECK-NEXT:      fusion.yield %p_1
// CHECK-NEXT:    }
// CHECK-NEXT:    %i = fusion.region(%p_1 = %p : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %i_1 = ntt.inverse %p_1
// CHECK-NEXT:      fusion.yield %i_1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %i
// REMARKS-NEXT: .mlir:[[# @LINE + 4]]:8: remark: [form-fusion-regions] applied: 'rns.pack': fused with its producer rns.add
// REMARKS-NEXT: .mlir:[[# @LINE + 4]]:8: remark: [form-fusion-regions] missed: 'ntt.inverse': not fused with its producer rns.pack: components are computed side by side only in regions without transform
func.func @not_with_a_transform(%x : !e, %y : !e) -> !pair_c2 {
  %a = rns.add %x, %y : !e
  %p = rns.pack %a, %a : !e2, !e2
  %i = ntt.inverse %p {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 0>} : !pair2
  return %i : !pair_c2
}
// REMARKS-NOT: remark:
}
