// RUN: fhelium-opt %s -p 'chain-launches{device=cpu}' --remarks all 2>%t.err | filecheck %s
// RUN: filecheck %s --input-file %t.err --check-prefix=REMARK
// RUN: fhelium-opt %s -p 'chain-launches{device=cpu}' | fhelium-opt - | fhelium-opt - -p 'chain-launches{device=cpu}' | filecheck %s --check-prefix=AGAIN
// RUN: fhelium-opt %s -p chain-launches | filecheck %s --check-prefix=GPU

// A device without a cache of its own for each core has no chains.
// GPU: builtin.module
// GPU-NOT: host.chain

// What is chained stays as it is.
// AGAIN:     host.chain
// AGAIN:     host.chain
// AGAIN-NOT: host.chain

// REMARK:      chain_launches.mlir:[[# @LINE + 55]]:3: remark: [chain-launches] applied: 'host.launch': @copy, @copy, @take run in 4 units

resource.declare @turned "rows" {values = dense<[2, 3, 0, 1]> : tensor<4xi32>} : memref<4xi32>
resource.declare @none "rows" {values = dense<[-1, -1, 2, 3]> : tensor<4xi32>} : memref<4xi32>

// A program row is 16384 words: 64 programs of 256 lanes.
kernel.func @copy(%x : !kernel.buffer<i64>, %o : !kernel.buffer<i64>) lanes [256] grid 2 {
  %degree = arith.constant 16384 : i64
  %lanes = arith.constant 256 : i64
  %row = kernel.program_id 1
  %block = kernel.program_id 0
  %l = kernel.lane_id 0
  %start = arith.muli %row, %degree : i64
  %first = arith.muli %block, %lanes : i64
  %in = arith.addi %first, %l : i64
  %i = arith.addi %start, %in : i64
  %v = kernel.load %x[%i] : !kernel.buffer<i64> -> i64
  kernel.store %v, %o[%i] : i64, !kernel.buffer<i64>
  kernel.return
}

// Reads the row that a table names; -1 is no row.
kernel.func @take(%rows : !kernel.buffer<i32>, %x : !kernel.buffer<i64>, %o : !kernel.buffer<i64>) lanes [256] grid 2 {
  %degree = arith.constant 16384 : i64
  %lanes = arith.constant 256 : i64
  %zero = arith.constant 0 : i64
  %row = kernel.program_id 1
  %block = kernel.program_id 0
  %l = kernel.lane_id 0
  %number = kernel.load %rows[%row] : !kernel.buffer<i32> -> i32
  %source = arith.extsi %number : i32 to i64
  %some = arith.cmpi sge, %source, %zero : i64
  %there = arith.muli %source, %degree : i64
  %start = arith.muli %row, %degree : i64
  %first = arith.muli %block, %lanes : i64
  %in = arith.addi %first, %l : i64
  %j = arith.addi %there, %in : i64
  %i = arith.addi %start, %in : i64
  %v = kernel.load %x[%j] mask %some : !kernel.buffer<i64> -> i64
  kernel.store %v, %o[%i] : i64, !kernel.buffer<i64>
  kernel.return
}

// Rows of the same number follow each other; a third launch joins, and so do rows that a table names.
// CHECK-LABEL: @rows
// CHECK:       host.alloc
// CHECK-NEXT:  host.alloc
// CHECK-NEXT:  host.resource @turned
// CHECK-NEXT:  host.chain units [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>, array<i64: 2, 3, 0, 1>] {
// CHECK-NEXT:    host.launch @copy grid [64, 4](%x, %a)
// CHECK-NEXT:    host.launch @copy grid [64, 4](%a, %a)
// CHECK-NEXT:    host.launch @take grid [64, 4](%turned, %a, %r)
// CHECK-NEXT:  }
func.func @rows(%x : memref<4x16384xi64>) -> memref<4x16384xi64> {
  %a = host.alloc : memref<4x16384xi64>
  host.launch @copy grid [64, 4](%x, %a) : memref<4x16384xi64>, memref<4x16384xi64>
  host.launch @copy grid [64, 4](%a, %a) : memref<4x16384xi64>, memref<4x16384xi64>
  %r = host.alloc : memref<4x16384xi64>
  %turned = host.resource @turned : memref<4xi32>
  host.launch @take grid [64, 4](%turned, %a, %r) : memref<4xi32>, memref<4x16384xi64>, memref<4x16384xi64>
  return %r : memref<4x16384xi64>
}

// A masked load of row -1 reads nothing, so that rows 0 and 1 of both launches are independent. Launches in a loop are
// chained as well; views of different places in the arena are different rows.
// CHECK-LABEL: @loop
// CHECK:       scf.for
// CHECK-NEXT:    host.view
// CHECK-NEXT:    host.view
// CHECK-NEXT:    host.chain units [array<i64: 0, 1, 2, 3>, array<i64: 4, 5, 2, 3>] {
func.func @loop(%x : memref<4x16384xi64>, %n : i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %arena = host.alloc : memref<1048576xi8>
  %none = host.resource @none : memref<4xi32>
  scf.for %k = %zero to %n step %one : i64 {
    %a = host.view %arena at 0 : memref<1048576xi8> -> memref<4x16384xi64>
    host.launch @copy grid [64, 4](%x, %a) : memref<4x16384xi64>, memref<4x16384xi64>
    %b = host.view %arena at 524288 : memref<1048576xi8> -> memref<4x16384xi64>
    host.launch @take grid [64, 4](%none, %a, %b) : memref<4xi32>, memref<4x16384xi64>, memref<4x16384xi64>
  }
  return
}
