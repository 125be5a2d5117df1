// RUN: fhelium-opt %s -p form-fusion-regions | filecheck %s

// Each region reads the integers of the arguments itself: a conversion is copied like an op that only re-indexes, and
// costs no pass over memory. The conversion to integers is the end of the region that computes a result.
!integers = !rns.poly<64, q 0:2, evaluation(bit_reversed), int64(e = 0, below = 1)>
!one = !rns.poly<64, q 0:2, evaluation(bit_reversed), fp64(e = 0, below = 1)>
!two = !rns.poly<64, q 0:2, evaluation(bit_reversed), fp64(e = 0, below = 2)>
!wide = !rns.poly<64, q 0:2, evaluation(bit_reversed), fp64(e = 0, below = 8)>
!c = !rns.poly<64, q 0:2, coefficient, fp64(e = 0, below = 8)>
!d = !rns.poly<64, q 0:2, coefficient, fp64(e = 0, below = 2)>
module attributes {ckks.params = #ckks.params<ring_degree = 64, q = [1125899906839937, 1099511623297], p = [1125899906840833], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<fp64>} {
// CHECK-LABEL: func.func @f(
// CHECK-NEXT:  %d = fusion.region({{%.*}} = %x : !rns.poly<{{[^>]*}}, int64(e = 0, below = 1)>) -> (!rns.poly<64, q 0:2, coefficient, fp64(e = 0, below = 2)>) {
// CHECK-NEXT:    [[W:%.*]] = rns.set_representative {{%.*}} : {{.*}}int64(e = 0, below = 1)> -> {{.*}}fp64(e = 0, below = 2)>
// CHECK-NEXT:    [[C:%.*]] = ntt.inverse [[W]]
// CHECK-NEXT:    [[D:%.*]] = rns.mul_constant [[C]]
// CHECK-NEXT:    fusion.yield [[D]]
// CHECK:       %r = fusion.region({{.*}}) -> (!rns.poly<64, q 0:2, evaluation(bit_reversed), int64(e = 0, below = 1)>) {
// CHECK-NEXT:    [[X:%.*]] = rns.set_representative {{%.*}} : {{.*}}int64(e = 0, below = 1)> -> {{.*}}fp64(e = 0, below = 2)>
// CHECK-NEXT:    [[F:%.*]] = ntt.forward
// CHECK-NEXT:    [[P:%.*]] = rns.mul [[F]], [[X]]
// CHECK-NEXT:    [[O:%.*]] = rns.set_representative [[P]]
// CHECK-NEXT:    [[R:%.*]] = rns.set_representative [[O]] : {{.*}}fp64(e = 0, below = 1)> -> {{.*}}int64(e = 0, below = 1)>
// CHECK-NEXT:    fusion.yield [[R]]
// CHECK:       func.return %r
func.func @f(%x : !integers) -> !integers {
  %w = rns.set_representative %x : !integers -> !two
  %c = ntt.inverse %w {contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>} : !two -> !c
  %d = rns.mul_constant %c {constant = #rns.constant<inverse p 0:1>, exponent = 1} : !c -> !d
  %f = ntt.forward %d {contract = #ntt.contract<bit_reversed, input = 2, output = 8, exponent = 0>} : !d -> !wide
  %p = rns.mul %f, %w : !wide, !two -> !two
  %o = rns.set_representative %p : !two -> !one
  %r = rns.set_representative %o : !one -> !integers
  return %r : !integers
}
}
