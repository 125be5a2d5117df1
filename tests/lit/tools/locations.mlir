// Locations of the text, explicit ones, and fused ones where ops merge; what is printed reads back the same.
// RUN: fhelium-opt %s -p cse --print-loc -o %t.mlir && filecheck %s < %t.mlir
// RUN: fhelium-opt %t.mlir --print-loc | cmp - %t.mlir
// RUN: fhelium-opt %t.mlir --print-loc --print-generic | fhelium-opt --print-loc | cmp - %t.mlir
// RUN: fhelium-opt %s | filecheck %s --check-prefix=PLAIN

// CHECK:      %b = arith.addi %a, %a : i32 loc(fused["{{.*}}locations.mlir":14:8, "model.py":3:4])
// CHECK-NEXT: %d = arith.muli %b, %b : i32 loc("scope"("model.py":5:1))
// CHECK-NEXT: func.return %d : i32 loc(callsite("g.py":1:2 at "f.py":3:4))
// PLAIN:      %b = arith.addi %a, %a : i32{{$}}
// PLAIN-NOT:  loc(

func.func @f(%a: i32) -> i32 {
  %b = arith.addi %a, %a : i32
  %c = arith.addi %a, %a : i32 loc("model.py":3:4)
  %d = arith.muli %b, %c : i32 loc("scope"("model.py":5:1))
  return %d : i32 loc(callsite("g.py":1:2 at "f.py":3:4))
}
