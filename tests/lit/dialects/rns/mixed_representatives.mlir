// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

!integers = !rns.poly<16, q 0:2, coefficient, int64(e = 0, below = 1)>
!word = !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 1) fp64(e = 0, below = 2)>
!wide = !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 5) fp64(e = 0, below = 4)>
!open = !rns.poly<16, q 0:2, coefficient, mont64(e = ?, below = ?) fp64(e = 0, below = ?)>

// One representative for each group of primes: a sign costs the integers a q, and the doubles nothing.
// CHECK-LABEL: func.func @f(
// CHECK-NEXT:  %a = rns.set_representative %x : !rns.poly<16, q 0:2, coefficient, int64(e = 0, below = 1)> -> !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 1) fp64(e = 0, below = 2)>
// CHECK-NEXT:  %n = rns.negate %a : !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 1) fp64(e = 0, below = 2)>
// CHECK-NEXT:  %t = rns.automorphism %n {galois = 5 : i64} : !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 2) fp64(e = 0, below = 2)>
// CHECK-NEXT:  %b = rns.add %n, %t : !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 2) fp64(e = 0, below = 2)>, !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 3) fp64(e = 0, below = 2)>{{$}}
// CHECK-NEXT:  %r = rns.set_representative %b : !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 5) fp64(e = 0, below = 4)> -> !rns.poly<16, q 0:2, coefficient, int64(e = 0, below = 1)>
// CHECK-NEXT:  %o = rns.set_representative %b : {{.*}} -> !rns.poly<16, q 0:2, coefficient, mont64(e = ?, below = ?) fp64(e = 0, below = ?)>
func.func @f(%x : !integers) -> !integers {
  %a = rns.set_representative %x : !integers -> !word
  %n = rns.negate %a : !word
  %t = rns.automorphism %n {galois = 5} : !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 2) fp64(e = 0, below = 2)>
  %b = rns.add %n, %t : !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 2) fp64(e = 0, below = 2)>, !rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 3) fp64(e = 0, below = 2)>
  %r = rns.set_representative %b : !wide -> !integers
  %o = rns.set_representative %b : !wide -> !open
  return %r : !integers
}
