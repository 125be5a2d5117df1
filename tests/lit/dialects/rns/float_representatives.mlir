// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

!integers = !rns.poly<16, q 0:2, coefficient, int64(e = 0, below = 1)>
!word = !rns.poly<16, q 0:2, coefficient, fp64(e = 0, below = 2)>
!wide = !rns.poly<16, q 0:2, coefficient, fp64(e = 0, below = 4)>

// Canonical integers are words below 2; signs are free, and sums as wide as both operands.
// CHECK-LABEL: func.func @f(
// CHECK-NEXT:  %a = rns.set_representative %x : !rns.poly<16, q 0:2, coefficient, int64(e = 0, below = 1)> -> !rns.poly<16, q 0:2, coefficient, fp64(e = 0, below = 2)>
// CHECK-NEXT:  %n = rns.negate %a : !rns.poly<16, q 0:2, coefficient, fp64(e = 0, below = 2)>
// CHECK-NEXT:  %t = rns.automorphism %n {galois = 5 : i64} : !rns.poly<16, q 0:2, coefficient, fp64(e = 0, below = 2)>
// CHECK-NEXT:  %s = rns.add %a, %t : !rns.poly<16, q 0:2, coefficient, fp64(e = 0, below = 2)>{{$}}
// CHECK-NEXT:  %r = rns.set_representative %s : !rns.poly<16, q 0:2, coefficient, fp64(e = 0, below = 4)> -> !rns.poly<16, q 0:2, coefficient, int64(e = 0, below = 1)>
// CHECK-NEXT:  func.return %r : !rns.poly<16, q 0:2, coefficient, int64(e = 0, below = 1)>
func.func @f(%x : !integers) -> !integers {
  %a = rns.set_representative %x : !integers -> !word
  %n = rns.negate %a : !word
  %t = rns.automorphism %n {galois = 5} : !word
  %s = rns.add %a, %t : !word
  %r = rns.set_representative %s : !wide -> !integers
  return %r : !integers
}
