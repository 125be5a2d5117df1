// RUN: fhelium-opt %s -p track-montgomery --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err
// RUN: fhelium-opt %s -p track-montgomery > %t.once && fhelium-opt %t.once -p track-montgomery > %t.twice && diff %t.once %t.twice

// Between two multiplications nothing is converted: the sum stays times R and the constants keep it there.
!p = !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>} {

// CHECK-LABEL: func.func @chain(
// CHECK:       %x_1 = rns.set_representative %x : {{.*}}mont64(e = 0, below = 1)> -> {{.*}}mont64(e = 1, below = 2)>
// CHECK-NEXT:  %m = rns.mul %x_1, %x_1 : {{.*}}mont64(e = 1, below = 2)> -> {{.*}}mont64(e = 1, below = 2)>
// CHECK-NEXT:  %s = rns.add %m, %m : {{.*}}mont64(e = 1, below = 2)>
// CHECK-NEXT:  %d = rns.mul_constant %s {constant = #rns.constant<inverse p 0:1>, exponent = 1 : i64} : {{.*}}mont64(e = 1, below = 4)> -> {{.*}}mont64(e = 1, below = 2)>
// CHECK-NEXT:  %m2 = rns.mul %d, %x_1 : {{.*}}mont64(e = 1, below = 2)> -> {{.*}}mont64(e = 1, below = 2)>
// CHECK-NEXT:  %r = rns.mul_constant %m2 {constant = #rns.constant<inverse p 0:1>, exponent = 0 : i64} : {{.*}}mont64(e = 1, below = 2)> -> {{.*}}mont64(e = 0, below = 2)>
// CHECK-NEXT:  %r_1 = rns.set_representative %r : {{.*}}mont64(e = 0, below = 2)> -> {{.*}}mont64(e = 0, below = 1)>
// CHECK-NEXT:  func.return %r_1
func.func @chain(%x : !p) -> !p {
  %m = rns.mul %x, %x : !p
  %s = rns.add %m, %m : !p
  %d = rns.mul_constant %s {constant = #rns.constant<inverse p 0:1>} : !p
  %m2 = rns.mul %d, %x : !p
  %r = rns.mul_constant %m2 {constant = #rns.constant<inverse p 0:1>} : !p
  return %r : !p
}
}

// REMARKS: track_montgomery_chain.mlir:[[# @LINE - 9]]:8: remark: [track-montgomery] applied: 'rns.mul': converted %x from exponent 0 to 1, below 2q: 16384 words
// REMARKS: remark: [track-montgomery] missed: 'rns.mul': the conversion of %x stays: it has exponent 0 because it is an argument of the function, and rns.mul needs exponent 1 because both factors of a product are stored times R
// REMARKS: track_montgomery_chain.mlir:[[# @LINE - 6]]:3: remark: [track-montgomery] applied: 'func.return': reduced %r from 2q to 1q
// REMARKS: remark: [track-montgomery] applied: inserted 1 conversions (16384 words) and 1 reductions
