// RUN: fhelium-opt %s -p form-fusion-regions --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err

!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
!e4 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 4)>
!e6 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 6)>
!c = !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 1)>
!c2 = !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 2)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {

// What follows a transform element by element joins its last kernel.
// CHECK-LABEL: func.func @after(
// CHECK-NEXT:    %z = fusion.region(%x_1 = %x : {{.*}}, %y_1 = %y : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %f = ntt.forward %x_1
// CHECK-NEXT:      %s = rns.sub %y_1, %f
// CHECK-NEXT:      %r = rns.mul_constant %s {constant = #rns.constant<inverse p 0:1>, exponent = 1 : i64}
// CHECK-NEXT:      %z_1 = rns.set_representative %r : {{.*}}mont64(e = 0, below = 2)> -> {{.*}}mont64(e = 0, below = 1)>
// CHECK-NEXT:      fusion.yield %z_1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %z
// REMARKS:      .mlir:[[# @LINE + 5]]:8: remark: [form-fusion-regions] applied: 'rns.sub': fused with its producer ntt.forward
// REMARKS-NEXT: .mlir:[[# @LINE + 5]]:8: remark: [form-fusion-regions] applied: 'rns.mul_constant': fused with its producer rns.sub
// REMARKS-NEXT: .mlir:[[# @LINE + 5]]:8: remark: [form-fusion-regions] applied: 'rns.set_representative': fused with its producer rns.mul_constant
func.func @after(%x : !c2, %y : !e2) -> !e {
  %f = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !c2
  %s = rns.sub %y, %f : !e2, !e4
  %r = rns.mul_constant %s {constant = #rns.constant<inverse p 0:1>, exponent = 1} : !e6 -> !e2
  %z = rns.set_representative %r : !e2 -> !e
  return %z : !e
}

// What precedes it, too; a second transform does not.
// CHECK-LABEL: func.func @before(
// CHECK-NEXT:    %r = fusion.region(%x_1 = %x : {{.*}}, %y_1 = %y : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %s = rns.add %x_1, %y_1
// CHECK-NEXT:      %f = ntt.forward %s
// CHECK-NEXT:      %r_1 = rns.set_representative %f : {{.*}}mont64(e = 0, below = 4)> -> {{.*}}mont64(e = 0, below = 2)>
// CHECK-NEXT:      fusion.yield %r_1
// CHECK-NEXT:    }
// CHECK-NEXT:    %i = fusion.region(%r_1 = %r : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %i_1 = ntt.inverse %r_1
// CHECK-NEXT:      fusion.yield %i_1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %i
// REMARKS-NEXT: .mlir:[[# @LINE + 5]]:8: remark: [form-fusion-regions] applied: 'ntt.forward': fused with its producer rns.add
// REMARKS-NEXT: .mlir:[[# @LINE + 5]]:8: remark: [form-fusion-regions] applied: 'rns.set_representative': fused with its producer ntt.forward
// REMARKS-NEXT: .mlir:[[# @LINE + 5]]:8: remark: [form-fusion-regions] missed: 'ntt.inverse': not fused with its producer rns.set_representative: two transforms need two regions
func.func @before(%x : !c, %y : !c) -> !c2 {
  %s = rns.add %x, %y : !c
  %f = ntt.forward %s {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !c2
  %r = rns.set_representative %f : !e4 -> !e2
  %i = ntt.inverse %r {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 0>} : !e2
  return %i : !c2
}
// REMARKS-NOT: remark:
}
