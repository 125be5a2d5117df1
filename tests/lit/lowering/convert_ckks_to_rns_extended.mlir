// RUN: fhelium-opt %s -p convert-ckks-to-rns | filecheck %s
// RUN: fhelium-opt %s -p fhelium-default --stop-after form-fusion-regions | filecheck %s --check-prefix FUSED

!triple = !ckks.ciphertext<level = 2, scale = 2**40, size = 3>
!product = !ckks.ciphertext<level = 2, scale = 2**40>
!ext = !ckks.ciphertext<level = 2, scale = 2**40, extended>
!low = !ckks.ciphertext<level = 1, scale = 2**40 / q2>
module attributes {ckks.params = #ckks.params<
  ring_degree = 16, q = [536870657, 536870561, 536870849], p = [536871233, 536871649],
  digits = 2, scale = 2**20, secret = ternary, insecure>} {

// Division by P * q2: residues modulo q2 and p are transformed back, the two remaining limbs forward.
// CHECK:       resource.declare @plaintext "plaintext" {{{.*}}special = 2 : i64}
// CHECK-LABEL: func.func @rescaled
// CHECK:       [[A:%.*]] = rns.accumulate
// CHECK-NEXT:  [[L:%.*]] = rns.extract %x {first = 0 : i64, count = 2 : i64}
// CHECK-NEXT:  [[P:%.*]] = rns.mul_constant [[L]] {constant = #rns.constant<product p 0:2>}
// CHECK-NEXT:  [[E:%.*]] = rns.embed [[P]] : {{.*}} -> !rns.poly<16, q 0:3 p 0:2, components = 2, evaluation(bit_reversed)>
// CHECK-NEXT:  [[S:%.*]] = rns.add [[E]], [[A]]
// CHECK-NEXT:  [[R:%.*]] = rns.restrict [[S]] : {{.*}} -> !rns.poly<16, q 2:3 p 0:2, components = 2, evaluation(bit_reversed)>
// CHECK-NEXT:  [[I:%.*]] = ntt.inverse [[R]]
// CHECK-NEXT:  [[V:%.*]] = rns.mul_constant [[I]] {constant = #rns.constant<punctured_inverse>}
// CHECK-NEXT:  [[W:%.*]] = rns.base_convert [[V]] {lift = "canonical", correction = "nearest"} : !rns.poly<16, q 2:3 p 0:2, components = 2, coefficient> -> !rns.poly<16, q 0:2, components = 2, coefficient>
// CHECK-NEXT:  [[F:%.*]] = ntt.forward [[W]] : !rns.poly<16, q 0:2, components = 2, coefficient>
// CHECK-NEXT:  [[K:%.*]] = rns.restrict [[S]] : {{.*}} -> !rns.poly<16, q 0:2, components = 2, evaluation(bit_reversed)>
// CHECK-NEXT:  [[D:%.*]] = rns.sub [[K]], [[F]]
// CHECK-NEXT:  [[Y:%.*]] = rns.mul_constant [[D]] {constant = #rns.constant<inverse q 2:3 p 0:2>}
// CHECK-NEXT:  return [[Y]]
// P times the other components and the sum join the inner product with the key.
// FUSED-LABEL: func.func @rescaled
// FUSED:       rns.accumulate
// FUSED-NOT:   fusion.region
// FUSED:       rns.embed
// FUSED-NOT:   fusion.region
// FUSED:       rns.add
func.func @rescaled(%x : !triple) -> !low {
  %r = ckks.relinearize %x {extended} : !triple
  %s = ckks.rescale %r : !ext
  return %s : !low
}

// CHECK-LABEL: func.func @sum
// CHECK:       rns.automorphism
// CHECK:       [[A:%.*]] = rns.accumulate
// CHECK:       [[B:%.*]] = rns.accumulate
// CHECK:       [[S:%.*]] = rns.sub
// CHECK:       [[W:%.*]] = rns.restrict [[S]] : {{.*}} -> !rns.poly<16, q 0:2 p 0:2, components = 2, evaluation(bit_reversed)>
// CHECK:       rns.restrict [[W]] : {{.*}} -> !rns.poly<16, p 0:2, components = 2, evaluation(bit_reversed)>
// CHECK:       rns.mul_constant {{%.*}} {constant = #rns.constant<inverse p 0:2>}
// CHECK-NEXT:  return
func.func @sum(%x : !product) -> !ckks.ciphertext<level = 1, scale = 2**40> {
  %a = ckks.rotate %x {steps = 1, extended} : !product
  %b = ckks.conjugate %x {extended} : !product
  %s = ckks.sub %a, %b : !ext
  %w = ckks.mod_switch %s : !ext
  %r = ckks.mod_down %w : !ckks.ciphertext<level = 1, scale = 2**40, extended>
  return %r : !ckks.ciphertext<level = 1, scale = 2**40>
}

// A factor has residues modulo p; a term is multiplied by P, and so is a rotation by all slots.
// CHECK-LABEL: func.func @plaintexts
// CHECK:       [[Q:%.*]] = resource.ref @plaintext : !rns.poly<16, q 0:3 p 0:2, evaluation(bit_reversed)>
// CHECK:       [[X:%.*]] = rns.embed
// CHECK:       rns.mul {{%.*}}, [[Q]] : !rns.poly<16, q 0:3 p 0:2, evaluation(bit_reversed)>
// CHECK:       [[PT:%.*]] = rns.mul_constant %p {constant = #rns.constant<product p 0:2>}
// CHECK-NEXT:  [[E:%.*]] = rns.embed [[PT]]
// CHECK-NEXT:  rns.pad [[E]] {components = 2 : i64}
func.func @plaintexts(%x : !product, %p : !ckks.plaintext<level = 2, scale = 2**60>)
    -> !ckks.ciphertext<level = 1, scale = 2**60 / q2> {
  %c = arith.constant dense<[0.5, -0.5]> : tensor<2xf64>
  %q = ckks.encode %c : tensor<2xf64> -> !ckks.plaintext<level = 2, scale = 2**20, extended>
  %a = ckks.rotate %x {steps = 8, extended} : !product
  %m = ckks.mul_plain %a, %q : !ext, !ckks.plaintext<level = 2, scale = 2**20, extended>
  %s = ckks.add_plain %m, %p : !ckks.ciphertext<level = 2, scale = 2**60, extended>, !ckks.plaintext<level = 2, scale = 2**60>
  %r = ckks.rescale %s : !ckks.ciphertext<level = 2, scale = 2**60, extended>
  return %r : !ckks.ciphertext<level = 1, scale = 2**60 / q2>
}
}
