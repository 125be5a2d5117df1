// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

// Only an arena has views.
// CHECK: invalid_view.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'host.view': the source must be an arena, a memref of i8
func.func @main(%x : memref<4xi64>, %n : i64) {
  %v = host.view %x at 0 : memref<4xi64> -> memref<1xi64>
  return
}

// -----

// A view has a size in bytes.
// CHECK: invalid_view.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: {{.*}}must have words as elements and a static shape
func.func @main(%x : memref<4xi64>, %n : i64) {
  %a = host.alloc : memref<64xi8>
  %v = host.view %a at 0 : memref<64xi8> -> memref<7xf32>
  return
}

// -----

// A view that ends after the arena.
// CHECK: invalid_view.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: 'host.view': the view leaves the arena
func.func @main(%x : memref<4xi64>, %n : i64) {
  %a = host.alloc : memref<64xi8>
  %v = host.view %a at 16 : memref<64xi8> -> memref<7xi64>
  return
}

// -----

// A view that begins before the arena.
// CHECK: invalid_view.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: 'host.view': the view leaves the arena
func.func @main(%x : memref<4xi64>, %n : i64) {
  %a = host.alloc : memref<64xi8>
  %v = host.view %a at -8 : memref<64xi8> -> memref<2xi64>
  return
}
