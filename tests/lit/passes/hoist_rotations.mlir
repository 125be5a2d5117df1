// RUN: fhelium-opt %s -p convert-ckks-to-rns,hoist-rotations --remarks=applied 2>%t.err | filecheck %s
// RUN: filecheck %s --check-prefix REMARK < %t.err

// Two rotations and the conjugation of one value decompose it once; a rotation of another value stays alone.

!ct = !ckks.ciphertext<level = 1, scale = 2**5>
module attributes {ckks.params = #ckks.params<
  ring_degree = 8, q = [97, 113], p = [257], digits = 2, scale = 2**5, secret = ternary, insecure>} {

// CHECK-LABEL: func.func @shared
// CHECK-COUNT-1: ntt.inverse {{%.*}} : !rns.poly<8, q 0:2, evaluation(bit_reversed)>
// CHECK: [[V:%.*]] = rns.mul_constant
// CHECK: [[W:%.*]] = rns.base_convert [[V]] {lift = "centred"
// CHECK: [[F:%.*]] = ntt.forward [[W]]
// CHECK: [[D5:%.*]] = rns.automorphism [[F]] {galois = 5 : i64}
// CHECK: rns.accumulate {{%.*}}, [[D5]], {{%.*}}
// CHECK-NOT: lift = "centred"
// CHECK: [[D9:%.*]] = rns.automorphism [[F]] {galois = 9 : i64}
// CHECK: rns.accumulate {{%.*}}, [[D9]], {{%.*}}
// CHECK-NOT: lift = "centred"
// CHECK: [[D15:%.*]] = rns.automorphism [[F]] {galois = 15 : i64}
// CHECK: rns.accumulate {{%.*}}, [[D15]], {{%.*}}
// CHECK-NOT: lift = "centred"
// CHECK: return
// REMARK: remark: [hoist-rotations] applied: 'rns.accumulate': 3 rotations share one decomposition
// REMARK-NOT: hoist-rotations
func.func @shared(%x : !ct) -> (!ct, !ct, !ct) {
  %a = ckks.rotate %x {steps = 1} : !ct
  %b = ckks.rotate %x {steps = 2} : !ct
  %c = ckks.conjugate %x : !ct
  return %a, %b, %c : !ct, !ct, !ct
}

// CHECK-LABEL: func.func @alone
// CHECK: rns.automorphism {{%.*}} {galois = 5 : i64}
// CHECK: ntt.inverse [[TURNED:%[0-9]+]] :
// CHECK: [[G:%.*]] = ntt.forward
// CHECK: rns.accumulate [[TURNED]], [[G]]
func.func @alone(%x : !ct) -> !ct {
  %a = ckks.rotate %x {steps = 1} : !ct
  return %a : !ct
}
}
