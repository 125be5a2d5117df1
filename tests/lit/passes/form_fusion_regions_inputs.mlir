// RUN: fhelium-opt %s -p form-fusion-regions --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err

!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
!e3 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 3)>
!e4 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 4)>
!e5 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 5)>
!e6 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 6)>
!e7 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 7)>
!e8 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 8)>
!e9 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 9)>
!e10 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 10)>
!e11 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 11)>
!e12 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 12)>
!e13 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 13)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {

// A sum of 13 bundles reads more buffers than a kernel may: the last addition is a region of its own.
// CHECK-LABEL: func.func @inputs(
// CHECK-NEXT:    %s11 = fusion.region(%x0_1 = %x0 : {{.*}}, %x1_1 = %x1 : {{.*}}, %x2_1 = %x2 : {{.*}}, %x3_1 = %x3 : {{.*}}, %x4_1 = %x4 : {{.*}}, %x5_1 = %x5 : {{.*}}, %x6_1 = %x6 : {{.*}}, %x7_1 = %x7 : {{.*}}, %x8_1 = %x8 : {{.*}}, %x9_1 = %x9 : {{.*}}, %x10_1 = %x10 : {{.*}}, %x11_1 = %x11 : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %s1 = rns.add %x0_1, %x1_1
// CHECK-NEXT:      %s2 = rns.add %s1, %x2_1
// CHECK-NEXT:      %s3 = rns.add %s2, %x3_1
// CHECK-NEXT:      %s4 = rns.add %s3, %x4_1
// CHECK-NEXT:      %s5 = rns.add %s4, %x5_1
// CHECK-NEXT:      %s6 = rns.add %s5, %x6_1
// CHECK-NEXT:      %s7 = rns.add %s6, %x7_1
// CHECK-NEXT:      %s8 = rns.add %s7, %x8_1
// CHECK-NEXT:      %s9 = rns.add %s8, %x9_1
// CHECK-NEXT:      %s10 = rns.add %s9, %x10_1
// CHECK-NEXT:      %s11_1 = rns.add %s10, %x11_1
// CHECK-NEXT:      fusion.yield %s11_1
// CHECK-NEXT:    }
// CHECK-NEXT:    %s12 = fusion.region(%s11_1 = %s11 : {{.*}}, %x12_1 = %x12 : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %s12_1 = rns.add %s11_1, %x12_1
// CHECK-NEXT:      fusion.yield %s12_1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %s12
// REMARKS:      .mlir:[[# @LINE + 13]]:9: remark: [form-fusion-regions] applied: 'rns.add': fused with its producer rns.add
// REMARKS-NEXT: .mlir:[[# @LINE + 13]]:9: remark: [form-fusion-regions] applied: 'rns.add': fused with its producer rns.add
// REMARKS-NEXT: .mlir:[[# @LINE + 13]]:9: remark: [form-fusion-regions] applied: 'rns.add': fused with its producer rns.add
// REMARKS-NEXT: .mlir:[[# @LINE + 13]]:9: remark: [form-fusion-regions] applied: 'rns.add': fused with its producer rns.add
// REMARKS-NEXT: .mlir:[[# @LINE + 13]]:9: remark: [form-fusion-regions] applied: 'rns.add': fused with its producer rns.add
// REMARKS-NEXT: .mlir:[[# @LINE + 13]]:9: remark: [form-fusion-regions] applied: 'rns.add': fused with its producer rns.add
// REMARKS-NEXT: .mlir:[[# @LINE + 13]]:9: remark: [form-fusion-regions] applied: 'rns.add': fused with its producer rns.add
// REMARKS-NEXT: .mlir:[[# @LINE + 13]]:9: remark: [form-fusion-regions] applied: 'rns.add': fused with its producer rns.add
// REMARKS-NEXT: .mlir:[[# @LINE + 13]]:10: remark: [form-fusion-regions] applied: 'rns.add': fused with its producer rns.add
// REMARKS-NEXT: .mlir:[[# @LINE + 13]]:10: remark: [form-fusion-regions] applied: 'rns.add': fused with its producer rns.add
// REMARKS-NEXT: .mlir:[[# @LINE + 13]]:10: remark: [form-fusion-regions] missed: 'rns.add': not fused with its producer rns.add: the region would read more than 12 buffers
func.func @inputs(%x0 : !e, %x1 : !e, %x2 : !e, %x3 : !e, %x4 : !e, %x5 : !e, %x6 : !e, %x7 : !e, %x8 : !e, %x9 : !e, %x10 : !e, %x11 : !e, %x12 : !e) -> !e13 {
  %s1 = rns.add %x0, %x1 : !e
  %s2 = rns.add %s1, %x2 : !e2, !e
  %s3 = rns.add %s2, %x3 : !e3, !e
  %s4 = rns.add %s3, %x4 : !e4, !e
  %s5 = rns.add %s4, %x5 : !e5, !e
  %s6 = rns.add %s5, %x6 : !e6, !e
  %s7 = rns.add %s6, %x7 : !e7, !e
  %s8 = rns.add %s7, %x8 : !e8, !e
  %s9 = rns.add %s8, %x9 : !e9, !e
  %s10 = rns.add %s9, %x10 : !e10, !e
  %s11 = rns.add %s10, %x11 : !e11, !e
  %s12 = rns.add %s11, %x12 : !e12, !e
  return %s12 : !e13
}
// REMARKS-NOT: remark:
}
