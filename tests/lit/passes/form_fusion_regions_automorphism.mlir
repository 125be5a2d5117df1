// RUN: fhelium-opt %s -p form-fusion-regions --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err

!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
!c2 = !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 2)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {

// A re-indexing costs nothing where it is read: both regions absorb it, it has none of its own.
// CHECK-LABEL: func.func @twice(
// CHECK-NEXT:    %i = fusion.region(%x_1 = %x : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %a = rns.automorphism %x_1 {galois = 13 : i64}
// CHECK-NEXT:      %i_1 = ntt.inverse %a
// CHECK-NEXT:      fusion.yield %i_1
// CHECK-NEXT:    }
// CHECK-NEXT:    %n = fusion.region(%x_1 = %x : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %a = rns.automorphism %x_1 {galois = 13 : i64}
// CHECK-NEXT:      %n_1 = rns.negate %a
// CHECK-NEXT:      fusion.yield %n_1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %i, %n
func.func @twice(%x : !e) -> (!c2, !e2) {
  %a = rns.automorphism %x {galois = 13} : !e
  %i = ntt.inverse %a {contract = #ntt.contract<bit_reversed, input = 2, output = 2, exponent = 0>} : !e
  %n = rns.negate %a : !e
  return %i, %n : !c2, !e2
}

// Two in a row would be a product of permutations.
// CHECK-LABEL: func.func @in_a_row(
// CHECK-NEXT:    %n = fusion.region(%x_1 = %x : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %a = rns.automorphism %x_1 {galois = 13 : i64}
// CHECK-NEXT:      %n_1 = rns.negate %a
// CHECK-NEXT:      fusion.yield %n_1
// CHECK-NEXT:    }
// CHECK-NEXT:    %z = fusion.region(%n_1 = %n : {{.*}}, %x_1 = %x : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %b = rns.automorphism %n_1 {galois = 5 : i64}
// CHECK-NEXT:      %s = rns.set_representative %b : {{.*}}mont64(e = 0, below = 2)> -> {{.*}}mont64(e = 0, below = 1)>
// CHECK-NEXT:      %z_1 = rns.add %s, %x_1
// CHECK-NEXT:      fusion.yield %z_1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %z
// REMARKS:      .mlir:[[# @LINE + 6]]:8: remark: [form-fusion-regions] missed: 'rns.set_representative': not fused with its producer rns.negate: two automorphisms in a row need two regions
// REMARKS-NEXT: .mlir:[[# @LINE + 6]]:8: remark: [form-fusion-regions] applied: 'rns.add': fused with its producer rns.set_representative
func.func @in_a_row(%x : !e) -> !e2 {
  %a = rns.automorphism %x {galois = 13} : !e
  %n = rns.negate %a : !e
  %b = rns.automorphism %n {galois = 5} : !e2
  %s = rns.set_representative %b : !e2 -> !e
  %z = rns.add %s, %x : !e
  return %z : !e2
}
// REMARKS-NOT: remark:
}
