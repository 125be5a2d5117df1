// RUN: fhelium-opt %s -p track-montgomery --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err
// RUN: fhelium-opt %s -p track-montgomery > %t.once && fhelium-opt %t.once -p track-montgomery > %t.twice && diff %t.once %t.twice

// A product is times R, a function result is not, and nothing between them can absorb the difference: exactly
// one conversion stays, on the narrow side of the restriction, and it reduces in the same op.
!p = !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
!n = !rns.poly<8192, q 0:1, evaluation(bit_reversed)>
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {

// CHECK-LABEL: func.func @one(
// CHECK-NEXT:  %k = resource.ref @k
// CHECK-NEXT:  %m = rns.mul %x, %k : {{.*}}mont64(e = 0, below = 1)>, {{.*}}mont64(e = 2, below = 1)> -> {{.*}}mont64(e = 1, below = 2)>
// CHECK-NEXT:  %s = rns.mul %m, %m : {{.*}}mont64(e = 1, below = 2)> -> {{.*}}mont64(e = 1, below = 2)>
// CHECK-NEXT:  %t = rns.negate %s : {{.*}}mont64(e = 1, below = 2)>
// CHECK-NEXT:  %r = rns.restrict %t : {{.*}}mont64(e = 1, below = 3)> -> {{.*}}mont64(e = 1, below = 3)>
// CHECK-NEXT:  %r_1 = rns.set_representative %r : {{.*}}mont64(e = 1, below = 3)> -> {{.*}}mont64(e = 0, below = 1)>
// CHECK-NEXT:  func.return %r_1
resource.declare @k "plaintext" {values = dense<[1.0, 2.0]> : tensor<2xf64>, level = 1 : i64, scale = "1099511627776/1"}
func.func @one(%x : !p) -> !n {
  %k = resource.ref @k : !p
  %m = rns.mul %x, %k : !p
  %s = rns.mul %m, %m : !p
  %t = rns.negate %s : !p
  %r = rns.restrict %t : !p -> !n
  return %r : !n
}
}

// REMARKS: remark: [track-montgomery] applied: 'func.return': converted %r from exponent 1 to 0, below 1q: 8192 words
// REMARKS: remark: [track-montgomery] missed: 'func.return': the conversion of %r stays: it has exponent 1 because of %s: it is a product of two bundles, and func.return needs exponent 0 because it crosses the interface of a function
// REMARKS: remark: [track-montgomery] applied: inserted 1 conversions (8192 words) and 0 reductions
