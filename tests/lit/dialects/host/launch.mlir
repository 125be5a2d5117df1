// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: func.func @main
// CHECK-NEXT{LITERAL}: host.launch @k grid [4, 2](%x, %n) : memref<4xi64>, i64
// GENERIC: "host.launch"(%x, %n) <{callee = @k, grid = array<i64: 4, 2>}> : (memref<4xi64>, i64) -> ()
func.func @main(%x : memref<4xi64>, %n : i64) {
  host.launch @k grid [4, 2](%x, %n) : memref<4xi64>, i64
  return
}
