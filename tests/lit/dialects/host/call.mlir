// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK: %t = host.resource @table : memref<4xi64>
// CHECK-NEXT{LITERAL}: %r = host.call @negate_0(%x) resources(%t) : (memref<2x16xi64>) resources(memref<4xi64>) -> (memref<2x16xi64>)
// CHECK-NEXT{LITERAL}: %s = host.call @negate_0(%r) resources() {in_place} : (memref<2x16xi64>) resources() -> (memref<2x16xi64>)
func.func @main(%x : memref<2x16xi64>) {
  %t = host.resource @table : memref<4xi64>
  %r = host.call @negate_0(%x) resources(%t) : (memref<2x16xi64>) resources(memref<4xi64>) -> (memref<2x16xi64>)
  %s = host.call @negate_0(%r) resources() {in_place} : (memref<2x16xi64>) resources() -> (memref<2x16xi64>)
  return
}
