// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: func.func @main
// CHECK-NEXT{LITERAL}: %a = host.alloc : memref<64xi8>
// CHECK-NEXT{LITERAL}: %v = host.view %a at 16 : memref<64xi8> -> memref<2x3xi64>
// GENERIC: %v = "host.view"(%a) <{offset = 16 : i64}> : (memref<64xi8>) -> memref<2x3xi64>
func.func @main(%x : memref<4xi64>, %n : i64) {
  %a = host.alloc : memref<64xi8>
  %v = host.view %a at 16 : memref<64xi8> -> memref<2x3xi64>
  return
}
