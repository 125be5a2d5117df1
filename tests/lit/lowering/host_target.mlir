// RUN: fhelium-opt %s -t host > %t.py
// RUN: filecheck %s < %t.py
// RUN: %python -m py_compile %t.py

resource.declare @moduli "moduli" : memref<4x4xi64>
kernel.func @work(%m : !kernel.buffer<i64>, %n : i64, %x : !kernel.buffer<i64>, %o : !kernel.buffer<i64>) lanes [1] grid 2 {
  kernel.return
}

// Resources and kernels are asked for once, ahead of every run. A run allocates its arena and results first, and what
// nothing reads any more goes back to the allocator.
// CHECK-LABEL: def prepare_0(host):
// CHECK-NEXT:      # host program of 'program'
// CHECK:           moduli_ = host.resource('moduli')
// CHECK-NEXT:      launch = host.kernel('work', (2, 1))
// CHECK-NEXT:      launch_1 = host.kernel('work', (1, 2))
// CHECK-EMPTY:
// CHECK-NEXT:      def run(x_):
// CHECK-NEXT:          arena_ = allocate((512,), 'int8')
// CHECK-NEXT:          arena_int64 = words(arena_, 'int64')
// CHECK-NEXT:          x_1 = allocate((1, 2, 16), 'int64')
// CHECK-NEXT:          bound_ = 3
// The view begins 256 bytes, 32 words, into the arena.
// CHECK-NEXT:          v_ = view(arena_int64, (1, 2, 16), (32, 16, 1), 32)
// CHECK-NEXT:          del arena_int64, arena_
// CHECK-NEXT:          launch(moduli_, bound_, x_, v_)
// CHECK-NEXT:          bound_1 = -1
// CHECK-NEXT:          launch_1(moduli_, bound_1, v_, x_1)
// CHECK-NEXT:          del v_
// CHECK-NEXT:          return (x_1, x_,)
// CHECK-EMPTY:
// CHECK-NEXT:      return run
func.func @program(%x : memref<1x2x16xi64>) -> (memref<1x2x16xi64>, memref<1x2x16xi64>) {
  %arena = host.alloc : memref<512xi8>
  %moduli = host.resource @moduli : memref<4x4xi64>
  %bound = arith.constant 3 : i64
  %0 = host.view %arena at 256 : memref<512xi8> -> memref<1x2x16xi64>
  host.launch @work grid [2, 1](%moduli, %bound, %x, %0) : memref<4x4xi64>, i64, memref<1x2x16xi64>, memref<1x2x16xi64>
  %x_1 = host.alloc : memref<1x2x16xi64>
  %bound_1 = arith.constant -1 : i64
  host.launch @work grid [1, 2](%moduli, %bound_1, %0, %x_1) : memref<4x4xi64>, i64, memref<1x2x16xi64>, memref<1x2x16xi64>
  return %x_1, %x : memref<1x2x16xi64>, memref<1x2x16xi64>
}

// Words of 32 bits; no results; names that Python keeps for itself, or that the parameters have.
// CHECK-LABEL: def prepare_1(host):
// CHECK-NEXT:      # host program of 'words'
// CHECK:           def run(lambda_, host_, resources_):
// CHECK-NEXT:          v_ = allocate((4,), 'int32')
// CHECK-NEXT:          del v_
// CHECK-NEXT:          return ()
func.func @words(%lambda : memref<4xi32>, %host : memref<4xi32>, %resources : memref<4xi32>) {
  %0 = host.alloc : memref<4xi32>
  return
}

// A symbol of a resource or kernel is a string literal.
// CHECK-LABEL: def prepare_2(host):
// CHECK-NEXT:      # host program of "a'); import os #"
// CHECK-NEXT:      v_ = host.resource('\n"""; import os #')
// CHECK-NEXT:      launch = host.kernel("'); import os #", (1,))
// CHECK:           def run():
// CHECK-NEXT:          launch(v_)
// CHECK-NEXT:          return ()
// CHECK-EMPTY:
// CHECK-NEXT:      return run
// CHECK-NOT:   {{.}}
resource.declare @"\0A\22\22\22; import os #" "moduli" : memref<4x4xi64>
kernel.func @"'); import os #"(%m : !kernel.buffer<i64>) lanes [1] grid 1 {
  kernel.return
}
func.func @"a'); import os #"() {
  %0 = host.resource @"\0A\22\22\22; import os #" : memref<4x4xi64>
  host.launch @"'); import os #" grid [1](%0) : memref<4x4xi64>
  return
}

// Declarations have no program.
func.func private @declared(memref<4xi32>) -> ()
