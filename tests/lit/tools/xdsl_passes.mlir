// The general passes of xDSL run by their names, alone and in one pipeline.
// RUN: fhelium-opt %s -p cse | filecheck %s --check-prefix=CSE
// RUN: fhelium-opt %s -p dce | filecheck %s --check-prefix=DCE
// RUN: fhelium-opt %s -p canonicalize | filecheck %s --check-prefix=CANON
// RUN: fhelium-opt %s -p 'cse, dce,canonicalize' | filecheck %s --check-prefix=ALL

// CSE:      %twice = arith.addi %a, %a : i32
// CSE-NEXT: %zero = arith.constant 0 : i32
// CSE-NEXT: %same = arith.addi %twice, %zero : i32
// CSE-NEXT: func.return %twice, %same : i32, i32

// DCE:      %twice = arith.addi %a, %a : i32
// DCE-NEXT: %again = arith.addi %a, %a : i32
// DCE-NEXT: %zero = arith.constant 0 : i32
// DCE-NEXT: %same = arith.addi %twice, %zero : i32
// DCE-NEXT: func.return %again, %same : i32, i32

// CANON:      %twice = arith.addi %a, %a : i32
// CANON-NEXT: %again = arith.addi %a, %a : i32
// CANON-NEXT: func.return %again, %twice : i32, i32

// ALL:      %twice = arith.addi %a, %a : i32
// ALL-NEXT: func.return %twice, %twice : i32, i32
func.func @f(%a: i32) -> (i32, i32) {
  %twice = arith.addi %a, %a : i32
  %again = arith.addi %a, %a : i32
  %unused = arith.muli %a, %a : i32
  %zero = arith.constant 0 : i32
  %same = arith.addi %twice, %zero : i32
  return %again, %same : i32, i32
}
