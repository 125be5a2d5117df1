// RUN: fhelium-opt %s -p 'form-fusion-regions{fuse=false}' | filecheck %s

!e = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>
!e2 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
!e3 = !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 3)>
!pair2 = !rns.poly<16, q 0:2, components = 2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {

// One op per region; views are still read through.
// CHECK-LABEL: func.func @each(
// CHECK-NEXT:    %a = fusion.region(%x_1 = %x : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %v = rns.extract %x_1 {first = 1 : i64, count = 1 : i64}
// CHECK-NEXT:      %a_1 = rns.automorphism %v {galois = 13 : i64}
// CHECK-NEXT:      fusion.yield %a_1
// CHECK-NEXT:    }
// CHECK-NEXT:    %s = fusion.region(%a_1 = %a : {{.*}}, %y_1 = %y : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %s_1 = rns.add %a_1, %y_1
// CHECK-NEXT:      fusion.yield %s_1
// CHECK-NEXT:    }
// CHECK-NEXT:    %r = fusion.region(%s_1 = %s : {{.*}}) -> ({{.*}}) {
// CHECK-NEXT:      %r_1 = rns.set_representative %s_1 : {{.*}}mont64(e = 0, below = 3)> -> {{.*}}mont64(e = 0, below = 1)>
// CHECK-NEXT:      fusion.yield %r_1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r
func.func @each(%x : !pair2, %y : !e) -> !e {
  %v = rns.extract %x {first = 1, count = 1} : !pair2
  %a = rns.automorphism %v {galois = 13} : !e2
  %s = rns.add %a, %y : !e2, !e
  %r = rns.set_representative %s : !e3 -> !e
  return %r : !e
}
}
