// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC
// RUN: fhelium-opt %s -t host | filecheck %s --check-prefix=PYTHON

// CHECK-LABEL: func.func @main
// CHECK-NEXT{LITERAL}: host.chain units [array<i64: 0, 1, 0>, array<i64: 1, 0>] {
// CHECK-NEXT{LITERAL}:   host.launch @k grid [4, 3](%x, %n) : memref<4xi64>, i64
// CHECK-NEXT{LITERAL}:   host.launch @j grid [2](%x) : memref<4xi64>
// CHECK-NEXT:          }
// GENERIC: "host.chain"() <{units = [array<i64: 0, 1, 0>, array<i64: 1, 0>]}> ({

// PYTHON:      def prepare_0(host):
// PYTHON:        chain = host.chain((('k', (4, 3)), ('j', (2,))), ((0, 1, 0), (1, 0)))
// PYTHON:        def run(x_, n_):
// PYTHON-NEXT:     chain((x_, n_,), (x_,))
// PYTHON-NEXT:     del x_
func.func @main(%x : memref<4xi64>, %n : i64) {
  host.chain units [array<i64: 0, 1, 0>, array<i64: 1, 0>] {
    host.launch @k grid [4, 3](%x, %n) : memref<4xi64>, i64
    host.launch @j grid [2](%x) : memref<4xi64>
  }
  return
}
