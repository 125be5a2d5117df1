// RUN: fhelium-opt %s -p 'form-fusion-regions{window=2}' --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err

!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
!e3 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 3)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {

// Three ops back is too far for a window of two.
// CHECK-LABEL: func.func @far(
// CHECK-NEXT:    %a = fusion.region(%x_1 = %x : {{.*}}, %y_1 = %y : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %a_1 = rns.add %x_1, %y_1
// CHECK-NEXT:      fusion.yield %a_1
// CHECK-NEXT:    }
// CHECK-NEXT:    %b = fusion.region(%x_1 = %x : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %b_1 = rns.negate %x_1
// CHECK-NEXT:      fusion.yield %b_1
// CHECK-NEXT:    }
// CHECK-NEXT:    %c = fusion.region(%y_1 = %y : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %c_1 = rns.negate %y_1
// CHECK-NEXT:      fusion.yield %c_1
// CHECK-NEXT:    }
// CHECK-NEXT:    %s = fusion.region(%a_1 = %a : {{.*}}, %x_1 = %x : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %s_1 = rns.add %a_1, %x_1
// CHECK-NEXT:      fusion.yield %s_1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %s, %b, %c
// REMARKS:      .mlir:[[# @LINE + 5]]:8: remark: [form-fusion-regions] missed: 'rns.add': not fused with its producer rns.add: it lies more than 2 ops back
func.func @far(%x : !e, %y : !e) -> (!e3, !e2, !e2) {
  %a = rns.add %x, %y : !e
  %b = rns.negate %x : !e
  %c = rns.negate %y : !e
  %s = rns.add %a, %x : !e2, !e
  return %s, %b, %c : !e3, !e2, !e2
}

// CHECK-LABEL: func.func @near(
// CHECK-NEXT:    %s = fusion.region(%x_1 = %x : {{.*}}, %y_1 = %y : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %a = rns.add %x_1, %y_1
// CHECK-NEXT:      %s_1 = rns.add %a, %x_1
// CHECK-NEXT:      fusion.yield %s_1
// CHECK-NEXT:    }
// CHECK-NEXT:    %b = fusion.region(%x_1 = %x : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %b_1 = rns.negate %x_1
// CHECK-NEXT:      fusion.yield %b_1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %s, %b
// REMARKS-NEXT: .mlir:[[# @LINE + 4]]:8: remark: [form-fusion-regions] applied: 'rns.add': fused with its producer rns.add
func.func @near(%x : !e, %y : !e) -> (!e3, !e2) {
  %a = rns.add %x, %y : !e
  %b = rns.negate %x : !e
  %s = rns.add %a, %x : !e2, !e
  return %s, %b : !e3, !e2
}
// REMARKS-NOT: remark:
}
