// RUN: fhelium-opt %s -p form-fusion-regions --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err

!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
!e3 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 3)>
!m = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 1)>
!m2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>
!low = !rns.poly<16, q 0:1, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!low2 = !rns.poly<16, q 0:1, evaluation(bit_reversed), mont64(e = 0, below = 2)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {

// What other regions or the function read is a result; the rest stays in registers.
// CHECK-LABEL: func.func @two_results(
// CHECK-NEXT:    %a, %s = fusion.region(%x_1 = %x : {{.*}}, %y_1 = %y : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %a_1 = rns.add %x_1, %y_1
// CHECK-NEXT:      %s_1 = rns.add %a_1, %x_1
// CHECK-NEXT:      fusion.yield %a_1, %s_1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %a, %s
// REMARKS:      .mlir:[[# @LINE + 3]]:8: remark: [form-fusion-regions] applied: 'rns.add': fused with its producer rns.add
func.func @two_results(%x : !e, %y : !e) -> (!e2, !e3) {
  %a = rns.add %x, %y : !e
  %s = rns.add %a, %x : !e2, !e
  return %a, %s : !e2, !e3
}

// A re-indexing whose result leaves the function is computed: only the rows that stay are added.
// CHECK-LABEL: func.func @view(
// CHECK-NEXT:    %v = fusion.region(%x_1 = %x : {{.*}}, %y_1 = %y : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %a = rns.add %x_1, %y_1
// CHECK-NEXT:      %v_1 = rns.restrict %a : !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)> -> !rns.poly<16, q 0:1, evaluation(bit_reversed), mont64(e = 0, below = 2)>
// CHECK-NEXT:      fusion.yield %v_1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %v
// REMARKS-NEXT: .mlir:[[# @LINE + 3]]:8: remark: [form-fusion-regions] applied: 'rns.restrict': fused with its producer rns.add
func.func @view(%x : !e, %y : !e) -> !low2 {
  %a = rns.add %x, %y : !e
  %v = rns.restrict %a : !e2 -> !low2
  return %v : !low2
}

// Nothing reads the product.
// CHECK-LABEL: func.func @dead(
// CHECK-NEXT:    %s = fusion.region(%x_1 = %x : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %s_1 = rns.negate %x_1
// CHECK-NEXT:      fusion.yield %s_1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %s
func.func @dead(%x : !m, %y : !m) -> !m2 {
  %a = rns.mul %x, %y : !m -> !m2
  %s = rns.negate %x : !m
  return %s : !m2
}

// Results of different limbs need different kernels.
// CHECK-LABEL: func.func @limbs(
// CHECK-NEXT:    %a = fusion.region(%x_1 = %x : {{.*}}, %y_1 = %y : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %a_1 = rns.add %x_1, %y_1
// CHECK-NEXT:      fusion.yield %a_1
// CHECK-NEXT:    }
// CHECK-NEXT:    %s = fusion.region(%x_1 = %x : {{.*}}, %z_1 = %z : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %v = rns.restrict %x_1 : !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)> -> !rns.poly<16, q 0:1, evaluation(bit_reversed), mont64(e = 0, below = 1)>
// CHECK-NEXT:      %s_1 = rns.add %v, %z_1
// CHECK-NEXT:      fusion.yield %s_1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %a, %s
func.func @limbs(%x : !e, %y : !e, %z : !low) -> (!e2, !low2) {
  %a = rns.add %x, %y : !e
  %v = rns.restrict %x : !e -> !low
  %s = rns.add %v, %z : !low
  return %a, %s : !e2, !low2
}
// REMARKS-NOT: remark:
}
