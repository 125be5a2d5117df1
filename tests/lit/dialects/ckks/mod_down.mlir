// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// CHECK-LABEL: func.func @divided
// CHECK: %a = ckks.rotate %x {steps = 1 : i64, extended} : !ckks.ciphertext<level = 1, scale = 2**40>
// CHECK-NEXT: %b = ckks.conjugate %x {extended} : !ckks.ciphertext<level = 1, scale = 2**40>
// CHECK-NEXT: %s = ckks.sub %a, %b : !ckks.ciphertext<level = 1, scale = 2**40, extended>
// CHECK-NEXT: %n = ckks.negate %s : !ckks.ciphertext<level = 1, scale = 2**40, extended>
// CHECK-NEXT: %w = ckks.mod_switch %n : !ckks.ciphertext<level = 1, scale = 2**40, extended>
// CHECK-NEXT: %r = ckks.mod_down %w : !ckks.ciphertext<level = 0, scale = 2**40, extended>
// CHECK-NEXT: func.return %r : !ckks.ciphertext<level = 0, scale = 2**40>
func.func @divided(%x : !ckks.ciphertext<level = 1, scale = 2**40>) -> !ckks.ciphertext<level = 0, scale = 2**40> {
  %a = ckks.rotate %x {steps = 1, extended} : !ckks.ciphertext<level = 1, scale = 2**40>
  %b = ckks.conjugate %x {extended} : !ckks.ciphertext<level = 1, scale = 2**40>
  %s = ckks.sub %a, %b : !ckks.ciphertext<level = 1, scale = 2**40, extended>
  %n = ckks.negate %s : !ckks.ciphertext<level = 1, scale = 2**40, extended>
  %w = ckks.mod_switch %n : !ckks.ciphertext<level = 1, scale = 2**40, extended>
  %r = ckks.mod_down %w : !ckks.ciphertext<level = 0, scale = 2**40, extended>
  return %r : !ckks.ciphertext<level = 0, scale = 2**40>
}

// A rescale divides by P as well; a factor has residues modulo P, a term has none.
// CHECK-LABEL: func.func @rescaled
// CHECK: %r = ckks.relinearize %x {extended} : !ckks.ciphertext<level = 1, scale = 2**40, size = 3>
// CHECK-NEXT: %m = ckks.mul_plain %r, %p : !ckks.ciphertext<level = 1, scale = 2**40, extended>, !ckks.plaintext<level = 1, scale = 2**20, extended>
// CHECK-NEXT: %a = ckks.add_plain %m, %q : !ckks.ciphertext<level = 1, scale = 2**60, extended>, !ckks.plaintext<level = 1, scale = 2**60>
// CHECK-NEXT: %s = ckks.rescale %a : !ckks.ciphertext<level = 1, scale = 2**60, extended>
// CHECK-NEXT: func.return %s : !ckks.ciphertext<level = 0, scale = 2**60 / q1>
func.func @rescaled(%x : !ckks.ciphertext<level = 1, scale = 2**40, size = 3>,
    %p : !ckks.plaintext<level = 1, scale = 2**20, extended>, %q : !ckks.plaintext<level = 1, scale = 2**60>)
    -> !ckks.ciphertext<level = 0, scale = 2**60 / q1> {
  %r = ckks.relinearize %x {extended} : !ckks.ciphertext<level = 1, scale = 2**40, size = 3>
  %m = ckks.mul_plain %r, %p : !ckks.ciphertext<level = 1, scale = 2**40, extended>, !ckks.plaintext<level = 1, scale = 2**20, extended>
  %a = ckks.add_plain %m, %q : !ckks.ciphertext<level = 1, scale = 2**60, extended>, !ckks.plaintext<level = 1, scale = 2**60>
  %s = ckks.rescale %a : !ckks.ciphertext<level = 1, scale = 2**60, extended>
  return %s : !ckks.ciphertext<level = 0, scale = 2**60 / q1>
}
