// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: invalid_stream.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'host.launch': a stream is not negative
func.func @main(%x : memref<4xi64>) {
  host.launch @k grid [4](%x) {stream = -1 : i64} : memref<4xi64>
  return
}

// -----

// CHECK: invalid_stream.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'host.record': a stream is not negative
func.func @main() {
  %done = host.record stream -1 : !host.event
  return
}

// -----

// CHECK: invalid_stream.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: 'host.wait': a stream is not negative
func.func @main() {
  %done = host.record stream 0 : !host.event
  host.wait stream -1 for %done : !host.event
  return
}

// -----

// CHECK: invalid_stream.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: 'fusion.region': a stream is not negative
!c = !rns.poly<16, q 0:2, coefficient>
func.func @main(%x : !c) -> !c {
  %r = fusion.region(%a = %x : !c) -> (!c) attributes {stream = -1 : i64} {
    fusion.yield %a : !c
  }
  return %r : !c
}
