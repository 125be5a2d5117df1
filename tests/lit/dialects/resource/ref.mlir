// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// CHECK-LABEL: func.func @key(
// CHECK-NEXT:    %k = resource.ref @relin : !rns.poly<8192, q 0:3 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed)>
// CHECK-NEXT:    func.return %k : !rns.poly<8192, q 0:3 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed)>
resource.declare @relin "relinearization_key"
func.func @key() -> !rns.poly<8192, q 0:3 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed)> {
  %k = resource.ref @relin : !rns.poly<8192, q 0:3 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed)>
  return %k : !rns.poly<8192, q 0:3 p 0:1, components = 2, digits = key(1), evaluation(bit_reversed)>
}
