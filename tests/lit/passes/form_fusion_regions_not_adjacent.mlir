// RUN: fhelium-opt %s -p form-fusion-regions --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err

!m = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 1)>
!m2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>
!m3 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 3)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {

// A producer is found through the SSA graph: the negation between the two ops stays a region of its own.
// CHECK-LABEL: func.func @apart(
// CHECK-NEXT:    %c = fusion.region(%x_1 = %x : {{.*}}, %y_1 = %y : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %a = rns.mul %x_1, %y_1
// CHECK-NEXT:      %c_1 = rns.add %a, %x_1
// CHECK-NEXT:      fusion.yield %c_1
// CHECK-NEXT:    }
// CHECK-NEXT:    %n = fusion.region(%y_1 = %y : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %n_1 = rns.negate %y_1
// CHECK-NEXT:      fusion.yield %n_1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %n, %c
// REMARKS:      .mlir:[[# @LINE + 4]]:8: remark: [form-fusion-regions] applied: 'rns.add': fused with its producer rns.mul
func.func @apart(%x : !m, %y : !m) -> (!m2, !m3) {
  %a = rns.mul %x, %y : !m -> !m2
  %n = rns.negate %y : !m
  %c = rns.add %a, %x : !m2, !m
  return %n, %c : !m2, !m3
}
// REMARKS-NOT: remark:
}
