// RUN: fhelium-opt %s -p form-fusion-regions --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err

!e4 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 4)>
!c2 = !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 2)>
!special_c = !rns.poly<16, p 0:1, coefficient, mont64(e = 0, below = 1)>
!special_c2 = !rns.poly<16, p 0:1, coefficient, mont64(e = 0, below = 2)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {

// A base conversion feeds the first kernel of a transform.
// CHECK-LABEL: func.func @into_the_transform(
// CHECK-NEXT:    %f = fusion.region(%x_1 = %x : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %w = rns.base_convert %x_1 {lift = "canonical", correction = "nearest"} : !rns.poly<16, p 0:1, coefficient, mont64(e = 0, below = 1)> -> !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 2)>
// CHECK-NEXT:      %f_1 = ntt.forward %w
// CHECK-NEXT:      fusion.yield %f_1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %f
// REMARKS:      .mlir:[[# @LINE + 3]]:8: remark: [form-fusion-regions] applied: 'ntt.forward': fused with its producer rns.base_convert
func.func @into_the_transform(%x : !special_c) -> !e4 {
  %w = rns.base_convert %x {lift = "canonical", correction = "nearest"} : !special_c -> !c2
  %f = ntt.forward %w {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !c2
  return %f : !e4
}

// What it reads lies in memory: its producer is the other region.
// CHECK-LABEL: func.func @reads_memory(
// CHECK-NEXT:    %r = fusion.region(%x_1 = %x : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %r_1 = rns.set_representative %x_1 : {{.*}}mont64(e = 0, below = 2)> -> {{.*}}mont64(e = 0, below = 1)>
// CHECK-NEXT:      fusion.yield %r_1
// CHECK-NEXT:    }
// CHECK-NEXT:    %f = fusion.region(%r_1 = %r : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %w = rns.base_convert %r_1 {lift = "canonical", correction = "nearest"} : !rns.poly<16, p 0:1, coefficient, mont64(e = 0, below = 1)> -> !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 2)>
// CHECK-NEXT:      %f_1 = ntt.forward %w
// CHECK-NEXT:      fusion.yield %f_1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %f
// REMARKS-NEXT: .mlir:[[# @LINE + 4]]:8: remark: [form-fusion-regions] missed: 'rns.base_convert': not fused with its producer rns.set_representative: this operand has to be in memory
// REMARKS-NEXT: .mlir:[[# @LINE + 4]]:8: remark: [form-fusion-regions] applied: 'ntt.forward': fused with its producer rns.base_convert
func.func @reads_memory(%x : !special_c2) -> !e4 {
  %r = rns.set_representative %x : !special_c2 -> !special_c
  %w = rns.base_convert %r {lift = "canonical", correction = "nearest"} : !special_c -> !c2
  %f = ntt.forward %w {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !c2
  return %f : !e4
}
// REMARKS-NOT: remark:
}
