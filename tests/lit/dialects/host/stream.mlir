// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK{LITERAL}: host.launch @k grid [4](%x) {stream = 2 : i64} : memref<4xi64>
// GENERIC: "host.launch"(%x) <{callee = @k, grid = array<i64: 4>, stream = 2 : i64}> : (memref<4xi64>) -> ()
func.func @main(%x : memref<4xi64>) {
  host.launch @k grid [4](%x) {stream = 2 : i64} : memref<4xi64>
  return
}
