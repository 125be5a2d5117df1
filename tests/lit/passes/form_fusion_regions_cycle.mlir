// RUN: fhelium-opt %s -p form-fusion-regions --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err

!low_c = !rns.poly<16, q 0:1, coefficient, mont64(e = 0, below = 1)>
!low_c2 = !rns.poly<16, q 0:1, coefficient, mont64(e = 0, below = 2)>
!low_c3 = !rns.poly<16, q 0:1, coefficient, mont64(e = 0, below = 3)>
!special_c = !rns.poly<16, p 0:1, coefficient, mont64(e = 0, below = 1)>
!special_c2 = !rns.poly<16, p 0:1, coefficient, mont64(e = 0, below = 2)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {

// %a and the sum could be one kernel, but %b, which nothing can fuse with %a, lies on a path between them.
// CHECK-LABEL: func.func @through_another(
// CHECK-NEXT:    %a = fusion.region(%x_1 = %x : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %a_1 = rns.set_representative %x_1 : {{.*}}mont64(e = 0, below = 2)> -> {{.*}}mont64(e = 0, below = 1)>
// CHECK-NEXT:      fusion.yield %a_1
// CHECK-NEXT:    }
// CHECK-NEXT:    %b = fusion.region(%a_1 = %a : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %w = rns.base_convert %a_1 {lift = "canonical", correction = "nearest"} : !rns.poly<16, q 0:1, coefficient, mont64(e = 0, below = 1)> -> !rns.poly<16, p 0:1, coefficient, mont64(e = 0, below = 2)>
// CHECK-NEXT:      %b_1 = rns.set_representative %w : {{.*}}mont64(e = 0, below = 2)> -> {{.*}}mont64(e = 0, below = 1)>
// CHECK-NEXT:      fusion.yield %b_1
// CHECK-NEXT:    }
// CHECK-NEXT:    %sum = fusion.region(%b_1 = %b : {{.*}}, %a_1 = %a : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %v = rns.base_convert %b_1 {lift = "canonical", correction = "nearest"} : !rns.poly<16, p 0:1, coefficient, mont64(e = 0, below = 1)> -> !rns.poly<16, q 0:1, coefficient, mont64(e = 0, below = 2)>
// CHECK-NEXT:      %sum_1 = rns.add %a_1, %v
// CHECK-NEXT:      fusion.yield %sum_1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %sum
// REMARKS:      .mlir:[[# @LINE + 7]]:8: remark: [form-fusion-regions] missed: 'rns.base_convert': not fused with its producer rns.set_representative: the results have different limbs
// REMARKS-NEXT: .mlir:[[# @LINE + 7]]:8: remark: [form-fusion-regions] applied: 'rns.set_representative': fused with its producer rns.base_convert
// REMARKS-NEXT: .mlir:[[# @LINE + 7]]:8: remark: [form-fusion-regions] missed: 'rns.base_convert': not fused with its producer rns.set_representative: this operand has to be in memory
// REMARKS-NEXT: .mlir:[[# @LINE + 7]]:10: remark: [form-fusion-regions] applied: 'rns.add': fused with its producer rns.base_convert
// REMARKS-NEXT: .mlir:[[# @LINE + 6]]:10: remark: [form-fusion-regions] missed: 'rns.add': not fused with its producer rns.set_representative: the joined region would depend on itself through another region
func.func @through_another(%x : !low_c2) -> !low_c3 {
  %a = rns.set_representative %x : !low_c2 -> !low_c
  %w = rns.base_convert %a {lift = "canonical", correction = "nearest"} : !low_c -> !special_c2
  %b = rns.set_representative %w : !special_c2 -> !special_c
  %v = rns.base_convert %b {lift = "canonical", correction = "nearest"} : !special_c -> !low_c2
  %sum = rns.add %a, %v : !low_c, !low_c2
  return %sum : !low_c3
}
// REMARKS-NOT: remark:
}
