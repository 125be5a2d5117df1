// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: func.func @main
// CHECK-NEXT{LITERAL}: %t = host.resource @table : memref<2x8xi64>
// GENERIC: %t = "host.resource"() <{symbol = @table}> : () -> memref<2x8xi64>
func.func @main(%x : memref<4xi64>, %n : i64) {
  %t = host.resource @table : memref<2x8xi64>
  return
}
