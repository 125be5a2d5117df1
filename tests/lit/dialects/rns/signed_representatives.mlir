// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

!integers = !rns.poly<16, q 0:2, coefficient, int32(e = 0, below = 1)>
!word = !rns.poly<16, q 0:2, coefficient, smont32(e = 0, below = 2)>
!turned = !rns.poly<16, q 0:2, coefficient, smont32(e = 0, below = 3)>
!wide = !rns.poly<16, q 0:2, coefficient, smont32(e = 0, below = 5)>
!raised = !rns.poly<16, q 0:2, coefficient, smont32(e = 1, below = 2)>

// Canonical integers are words below 2; a change of sign widens an interval that holds its lower end only.
// CHECK-LABEL: func.func @f(
// CHECK-NEXT:  %a = rns.set_representative %x : !rns.poly<16, q 0:2, coefficient, int32(e = 0, below = 1)> -> !rns.poly<16, q 0:2, coefficient, smont32(e = 0, below = 2)>
// CHECK-NEXT:  %t = rns.automorphism %a {galois = 5 : i64} : !rns.poly<16, q 0:2, coefficient, smont32(e = 0, below = 2)>
// CHECK-NEXT:  %s = rns.add %a, %t : !rns.poly<16, q 0:2, coefficient, smont32(e = 0, below = 2)>, !rns.poly<16, q 0:2, coefficient, smont32(e = 0, below = 3)>
// CHECK-NEXT:  %e = rns.set_representative %s : !rns.poly<16, q 0:2, coefficient, smont32(e = 0, below = 5)> -> !rns.poly<16, q 0:2, coefficient, smont32(e = 1, below = 2)>
// CHECK-NEXT:  %r = rns.set_representative %s : !rns.poly<16, q 0:2, coefficient, smont32(e = 0, below = 5)> -> !rns.poly<16, q 0:2, coefficient, int32(e = 0, below = 1)>
func.func @f(%x : !integers) -> !integers {
  %a = rns.set_representative %x : !integers -> !word
  %t = rns.automorphism %a {galois = 5} : !word
  %s = rns.add %a, %t : !word, !turned
  %e = rns.set_representative %s : !wide -> !raised
  %r = rns.set_representative %s : !wide -> !integers
  return %r : !integers
}
