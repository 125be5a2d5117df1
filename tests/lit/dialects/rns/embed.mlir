// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// CHECK-LABEL: func.func @f
// CHECK:       %m = rns.mul_constant %x {constant = #rns.constant<product p 0:2>} : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
// CHECK-NEXT:  %r = rns.embed %m : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)> -> !rns.poly<8192, q 0:2 p 0:2, components = 2, evaluation(bit_reversed)>
// CHECK-NEXT:  func.return %r : !rns.poly<8192, q 0:2 p 0:2, components = 2, evaluation(bit_reversed)>
func.func @f(%x : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>)
    -> !rns.poly<8192, q 0:2 p 0:2, components = 2, evaluation(bit_reversed)> {
  %m = rns.mul_constant %x {constant = #rns.constant<product p 0:2>} : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)>
  %r = rns.embed %m : !rns.poly<8192, q 0:2, components = 2, evaluation(bit_reversed)> -> !rns.poly<8192, q 0:2 p 0:2, components = 2, evaluation(bit_reversed)>
  return %r : !rns.poly<8192, q 0:2 p 0:2, components = 2, evaluation(bit_reversed)>
}
