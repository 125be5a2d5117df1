// RUN: fhelium-opt %s -p merge-divisions --remarks=applied 2>%t.err | filecheck %s
// RUN: filecheck %s --check-prefix REMARK < %t.err
// RUN: fhelium-opt %s -p merge-divisions,merge-divisions | filecheck %s
// RUN: fhelium-opt %s -p 'merge-divisions{sums=false}' | filecheck %s --check-prefix ALONE
// RUN: fhelium-opt %s > %t.before && fhelium-opt %s -p 'merge-divisions{enable=false}' > %t.after && diff %t.before %t.after

!ct = !ckks.ciphertext<level = 2, scale = 2**20>
!product = !ckks.ciphertext<level = 2, scale = 2**40>
!triple = !ckks.ciphertext<level = 2, scale = 2**40, size = 3>
!low = !ckks.ciphertext<level = 1, scale = 2**40 / q2>
!pt = !ckks.plaintext<level = 2, scale = 2**20>
module attributes {ckks.params = #ckks.params<
  ring_degree = 16, q = [536870657, 536870561, 536870849], p = [536871233],
  digits = 3, scale = 2**20, secret = ternary, insecure>} {

// A rescale of a relinearized product divides by P * q2 at once.
// CHECK-LABEL: func.func @relinearized
// CHECK:       [[E:%.*]] = ckks.relinearize %x {extended} : !ckks.ciphertext<level = 2, scale = 2**40, size = 3>
// CHECK-NEXT:  [[R:%.*]] = ckks.rescale [[E]] : !ckks.ciphertext<level = 2, scale = 2**40, extended>
// CHECK-NEXT:  return [[R]] : !ckks.ciphertext<level = 1, scale = 2**40 / q2>
// REMARK:      remark: [merge-divisions] applied: 'ckks.rescale': divides by P * q2 at once
// ALONE-LABEL: func.func @relinearized
// ALONE:       ckks.relinearize %x {extended}
func.func @relinearized(%x : !triple) -> !low {
  %r = ckks.relinearize %x : !triple
  %s = ckks.rescale %r : !product
  return %s : !low
}

// Rotations and conjugations end in the same way.
// CHECK-LABEL: func.func @turned
// CHECK:       ckks.rotate %x {steps = 1 : i64, extended}
// CHECK:       ckks.rescale {{.*}}extended>
// CHECK:       ckks.conjugate %x {extended}
// CHECK:       ckks.rescale {{.*}}extended>
func.func @turned(%x : !product) -> (!low, !low) {
  %t = ckks.rotate %x {steps = 1} : !product
  %r = ckks.rescale %t : !product
  %u = ckks.conjugate %x : !product
  %s = ckks.rescale %u : !product
  return %r, %s : !low, !low
}

// A sum with what was not switched: that is extended. A constant is added as it is.
// CHECK-LABEL: func.func @mixed
// CHECK:       [[E:%.*]] = ckks.relinearize %x {extended}
// CHECK:       [[Y:%.*]] = ckks.extend %y : !ckks.ciphertext<level = 2, scale = 2**40>
// CHECK:       [[S:%.*]] = ckks.sub [[E]], [[Y]] : !ckks.ciphertext<level = 2, scale = 2**40, extended>
// CHECK:       [[N:%.*]] = ckks.negate [[S]]
// CHECK:       [[P:%.*]] = ckks.add_plain [[N]], %p : !ckks.ciphertext<level = 2, scale = 2**40, extended>, !ckks.plaintext<level = 2, scale = 2**40>
// CHECK:       ckks.rescale [[P]] : !ckks.ciphertext<level = 2, scale = 2**40, extended>
// ALONE-LABEL: func.func @mixed
// ALONE-NOT:   extended
// ALONE:       return
func.func @mixed(%x : !triple, %y : !product, %p : !ckks.plaintext<level = 2, scale = 2**40>) -> !low {
  %r = ckks.relinearize %x : !triple
  %s = ckks.sub %r, %y : !product
  %n = ckks.negate %s : !product
  %a = ckks.add_plain %n, %p : !product, !ckks.plaintext<level = 2, scale = 2**40>
  %l = ckks.rescale %a : !product
  return %l : !low
}

// A sum of rotated products: one division, plaintexts modulo P too. The term that is not rotated stays as it is.
// CHECK-LABEL: func.func @sum
// CHECK:       ckks.encode {{%.*}} : tensor<2xf64> -> !ckks.plaintext<level = 2, scale = 2**20, extended>
// CHECK:       ckks.encode {{%.*}} : tensor<2xf64> -> !ckks.plaintext<level = 2, scale = 2**20>
// CHECK-NOT:   ckks.encode
// CHECK:       [[A:%.*]] = ckks.rotate %x {steps = 1 : i64, extended}
// CHECK:       [[B:%.*]] = ckks.rotate %x {steps = 2 : i64, extended}
// CHECK:       [[PA:%.*]] = ckks.mul_plain [[A]], {{%.*}} : {{.*}}extended>, {{.*}}extended>
// CHECK:       [[PB:%.*]] = ckks.mul_plain [[B]], {{%.*}} : {{.*}}extended>, {{.*}}extended>
// CHECK:       [[PX:%.*]] = ckks.mul_plain %x, {{%.*}} : !ckks.ciphertext<level = 2, scale = 2**20>, !ckks.plaintext<level = 2, scale = 2**20>
// CHECK:       [[EX:%.*]] = ckks.extend [[PX]]
// CHECK:       [[S:%.*]] = ckks.add [[PA]], [[EX]] : {{.*}}extended>
// CHECK:       [[T:%.*]] = ckks.add [[S]], [[PB]]
// CHECK:       [[D:%.*]] = ckks.mod_down [[T]]
// CHECK-NEXT:  return [[D]]
// REMARK:      remark: [merge-divisions] applied: 'ckks.add': divided by P after the sum
// ALONE-LABEL: func.func @sum
// ALONE-NOT:   extended
// ALONE:       return
func.func @sum(%x : !ct) -> !product {
  %c = arith.constant dense<[0.5, -0.5]> : tensor<2xf64>
  %d = arith.constant dense<[0.25, 0.5]> : tensor<2xf64>
  %p = ckks.encode %c : tensor<2xf64> -> !pt
  %q = ckks.encode %d : tensor<2xf64> -> !pt
  %a = ckks.rotate %x {steps = 1} : !ct
  %b = ckks.rotate %x {steps = 2} : !ct
  %pa = ckks.mul_plain %a, %p : !ct, !pt
  %pb = ckks.mul_plain %b, %p : !ct, !pt
  %px = ckks.mul_plain %x, %q : !ct, !pt
  %s = ckks.add %pa, %px : !product
  %t = ckks.add %s, %pb : !product
  return %t : !product
}

// Two sums of the same three rotations: neither rotation is divided, both sums are.
// CHECK-LABEL:   func.func @shared
// CHECK-COUNT-3: ckks.rotate {{.*}}extended}
// CHECK-COUNT-2: ckks.mod_down
// CHECK-NOT:     ckks.mod_down
// CHECK:         return
func.func @shared(%x : !ct) -> (!ct, !ct) {
  %a = ckks.rotate %x {steps = 1} : !ct
  %b = ckks.rotate %x {steps = 2} : !ct
  %c = ckks.rotate %x {steps = 3} : !ct
  %s0 = ckks.add %a, %b : !ct
  %s1 = ckks.add %s0, %c : !ct
  %t0 = ckks.sub %a, %b : !ct
  %t1 = ckks.sub %t0, %c : !ct
  return %s1, %t1 : !ct, !ct
}

// Lower levels are cheaper to divide.
// CHECK-LABEL: func.func @switched
// CHECK:       [[A:%.*]] = ckks.rotate %x {steps = 1 : i64, extended}
// CHECK-NEXT:  [[S:%.*]] = ckks.mod_switch [[A]] : {{.*}}extended>
// CHECK-NEXT:  ckks.mod_down [[S]] : !ckks.ciphertext<level = 1, scale = 2**20, extended>
func.func @switched(%x : !ct) -> !ckks.ciphertext<level = 1, scale = 2**20> {
  %a = ckks.rotate %x {steps = 1} : !ct
  %s = ckks.mod_switch %a : !ct
  return %s : !ckks.ciphertext<level = 1, scale = 2**20>
}

// What is left as it is: a value that is rescaled and also used undivided elsewhere, one division is cheaper.
// CHECK-LABEL: func.func @other_use
// CHECK-NOT:   extended
// CHECK:       return
func.func @other_use(%x : !triple) -> (!low, !product) {
  %r = ckks.relinearize %x : !triple
  %s = ckks.rescale %r : !product
  return %s, %r : !low, !product
}

// A rotation, a product and a rotation of a rotation need their operands divided; a product with a plaintext argument
// too, as it has no residues modulo P.
// CHECK-LABEL: func.func @factors
// CHECK-NOT:   extended
// CHECK:       return
func.func @factors(%x : !ct, %p : !pt) -> (!triple, !product) {
  %a = ckks.rotate %x {steps = 1} : !ct
  %b = ckks.rotate %a {steps = 1} : !ct
  %c = ckks.mul %b, %b : !ct
  %d = ckks.rotate %x {steps = 2} : !ct
  %e = ckks.mul_plain %d, %p : !ct, !pt
  %f = ckks.mul_plain %a, %p : !ct, !pt
  %g = ckks.add %e, %f : !product
  return %c, %g : !triple, !product
}

// One rotated term gains nothing, and a rotation by all slots switches no key.
// CHECK-LABEL: func.func @single
// CHECK-NOT:   extended
// CHECK:       return
func.func @single(%x : !ct) -> (!ct, !low) {
  %a = ckks.rotate %x {steps = 1} : !ct
  %s = ckks.add %a, %x : !ct
  %m = ckks.mul %x, %x : !ct
  %r = ckks.relinearize %m : !triple
  %b = ckks.rotate %r {steps = 8} : !product
  %c = ckks.rescale %b : !product
  return %s, %c : !ct, !low
}
}
