// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: func.func @main
// CHECK-NEXT{LITERAL}: %a = host.alloc : memref<64xi8>
// GENERIC: %a = "host.alloc"() : () -> memref<64xi8>
func.func @main(%x : memref<4xi64>, %n : i64) {
  %a = host.alloc : memref<64xi8>
  return
}
