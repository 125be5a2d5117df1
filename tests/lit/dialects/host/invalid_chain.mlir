// RUN: not fhelium-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: invalid_chain.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'host.chain': the body holds launches and nothing else
func.func @other(%x : memref<4xi64>) {
  host.chain units [array<i64: 0, 1>] {
    host.launch @k grid [4, 2](%x) : memref<4xi64>
    %y = host.alloc : memref<4xi64>
  }
  return
}

// -----

// CHECK: invalid_chain.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'host.chain': `units` must have a number for each program row of each launch
func.func @rows(%x : memref<4xi64>) {
  host.chain units [array<i64: 0, 1, 2>] {
    host.launch @k grid [4, 2](%x) : memref<4xi64>
  }
  return
}

// -----

// CHECK: invalid_chain.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'host.chain': units are numbered from 0, without a gap
func.func @gap(%x : memref<4xi64>) {
  host.chain units [array<i64: 0, 2>] {
    host.launch @k grid [4, 2](%x) : memref<4xi64>
  }
  return
}

// -----

// CHECK: invalid_chain.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: 'host.chain': the launches must be on one stream
func.func @streams(%x : memref<4xi64>) {
  host.chain units [array<i64: 0, 1>, array<i64: 0, 1>] {
    host.launch @k grid [4, 2](%x) : memref<4xi64>
    host.launch @k grid [4, 2](%x) {stream = 1 : i64} : memref<4xi64>
  }
  return
}
