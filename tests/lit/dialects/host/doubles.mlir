// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s -t host | filecheck %s --check-prefix=HOST
// RUN: fhelium-opt %s -t resources-json | filecheck %s --check-prefix=JSON

// Buffers of doubles: allocated, parts of the arena, resources, and passed to kernels.
// JSON:      "dtype": "float64"
// JSON-NEXT: "bytes": 96
// CHECK{LITERAL}: resource.declare @moduli "moduli" : memref<3x4xf64>
// HOST:      moduli_ = host.resource('moduli')
// HOST:      arena_float64 = words(arena_, 'float64')
// HOST-NEXT: arena_int64 = words(arena_, 'int64')
// HOST-NEXT: result_ = allocate((4,), 'float64')
// HOST-NEXT: v_ = view(arena_float64, (2, 3), (3, 1), 2)
// HOST-NEXT: w_ = view(arena_int64, (2,), (1,), 0)
// HOST:      launch(moduli_, v_, w_, result_)
// CHECK{LITERAL}: %v = host.view %arena at 16 : memref<64xi8> -> memref<2x3xf64>
// CHECK{LITERAL}: host.launch @k grid [1](%moduli, %v, %w, %result) : memref<3x4xf64>, memref<2x3xf64>, memref<2xi64>, memref<4xf64>
resource.declare @moduli "moduli" : memref<3x4xf64>
kernel.func @k(%m : !kernel.buffer<f64>, %x : !kernel.buffer<f64>, %w : !kernel.buffer<i64>, %y : !kernel.buffer<f64>) lanes [1] grid 1 {
  kernel.return
}
func.func @main() -> memref<4xf64> {
  %arena = host.alloc : memref<64xi8>
  %moduli = host.resource @moduli : memref<3x4xf64>
  %v = host.view %arena at 16 : memref<64xi8> -> memref<2x3xf64>
  %w = host.view %arena at 0 : memref<64xi8> -> memref<2xi64>
  %result = host.alloc : memref<4xf64>
  host.launch @k grid [1](%moduli, %v, %w, %result) : memref<3x4xf64>, memref<2x3xf64>, memref<2xi64>, memref<4xf64>
  return %result : memref<4xf64>
}
