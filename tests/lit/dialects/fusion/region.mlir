// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// CHECK-LABEL: func.func @two_results(
// CHECK-NEXT:    %sum, %difference = fusion.region(%a = %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, %b = %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>, !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
// CHECK-NEXT:      %s = rns.add %a, %b : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
// CHECK-NEXT:      %d = rns.sub %a, %b : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
// CHECK-NEXT:      fusion.yield %s, %d : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
// CHECK-NEXT:    }
func.func @two_results(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>, !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
  %sum, %difference = fusion.region(%a = %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, %b = %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>, !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) {
    %s = rns.add %a, %b : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
    %d = rns.sub %a, %b : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
    fusion.yield %s, %d : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  }
  return %sum, %difference : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>, !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// CHECK-LABEL: func.func @planned(
// CHECK-NEXT:    %r = fusion.region(%a = %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) attributes {resources = [@m], offsets = [-1 : i64, 512 : i64]} {
resource.declare @m "moduli"
func.func @planned(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)> {
  %r = fusion.region(%a = %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2, evaluation(bit_reversed)>) attributes {resources = [@m], offsets = [-1, 512]} {
    %n = rns.negate %a : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
    fusion.yield %n : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  }
  return %r : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// A region without inputs or results.
// CHECK-LABEL: func.func @empty(
// CHECK-NEXT:    fusion.region() -> () {
// CHECK-NEXT:      fusion.yield
func.func @empty() {
  fusion.region() -> () {
    fusion.yield
  }
  return
}
