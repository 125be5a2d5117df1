// RUN: fhelium-opt %s -t python > %t.py
// RUN: filecheck %s < %t.py
// RUN: %python -m py_compile %t.py
// RUN: not fhelium-opt %root/tests/lit/lowering/host_target_errors.mlir -t python 2>&1 | filecheck %s --check-prefix=EARLY

// Kernels, a table of them by symbol, the host's runtime, the host program, the table of programs. No symbol appears
// but as an identifier that spells it out or in a string.
// CHECK:      import triton
// CHECK-NEXT: import triton.language as tl
// CHECK:      # kernel.func @"'); import os #"
// CHECK:      @triton.jit
// CHECK-NEXT: def _x27__x29__x3b__x20_import_x20_os_x20__x23_(m: "*u64", n: "u64"):
// CHECK:      KERNELS = {
// CHECK-NEXT:     "'); import os #": (_x27__x29__x3b__x20_import_x20_os_x20__x23_, 1, ('*u64', 'u64')),
// CHECK-NEXT: }
// CHECK-NEXT: del _x27__x29__x3b__x20_import_x20_os_x20__x23_
// CHECK:      class Host:
// CHECK:      def prepare_0(host):
// CHECK-NEXT:     # host program of 'a"""\n'
// CHECK-NEXT:     launch = host.kernel("'); import os #", (1,))
// CHECK:          def run(x_):
// CHECK:      PROGRAMS = {
// CHECK-NEXT:     'a"""\n': (prepare_0, {{\[}}('arg0', (4,), 'int64')]),
// CHECK:      def load(constants=None, device=None, name=None):
// CHECK-NOT:  import fhelium

// EARLY: error: rns.negate is not part of a host program; run convert-regions-to-kernels first

kernel.func @"'); import os #"(%m : !kernel.buffer<i64>, %n : i64) lanes [1] grid 1 {
  kernel.return
}
func.func @"a\22\22\22\0A"(%x : memref<4xi64>) {
  %n = arith.constant -1 : i64
  host.launch @"'); import os #" grid [1](%x, %n) : memref<4xi64>, i64
  return
}
