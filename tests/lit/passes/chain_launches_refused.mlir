// RUN: fhelium-opt %s -p 'chain-launches{device=cpu}' --remarks all --verify-diagnostics | filecheck %s

// CHECK: builtin.module
// CHECK-NOT: host.chain

resource.declare @first "rows" {values = dense<[0, 0, 0, 0]> : tensor<4xi32>} : memref<4xi32>

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

// The row is a word that nothing is known of.
kernel.func @look_up(%words : !kernel.buffer<i64>, %x : !kernel.buffer<i64>, %o : !kernel.buffer<i64>) lanes [256] grid 2 {
  %degree = arith.constant 16384 : i64
  %row = kernel.program_id 1
  %source = kernel.load %words[%row] : !kernel.buffer<i64> -> i64
  %l = kernel.lane_id 0
  %there = arith.muli %source, %degree : i64
  %start = arith.muli %row, %degree : i64
  %j = arith.addi %there, %l : i64
  %i = arith.addi %start, %l : i64
  %v = kernel.load %x[%j] : !kernel.buffer<i64> -> i64
  kernel.store %v, %o[%i] : i64, !kernel.buffer<i64>
  kernel.return
}


kernel.func @long(%x : !kernel.buffer<i64>, %o : !kernel.buffer<i64>) lanes [256] grid 2 {
  %degree = arith.constant 131072 : i64
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


// All rows read row 0.
func.func @one_for_all(%x : memref<4x16384xi64>) -> memref<4x16384xi64> {
  %a = host.alloc : memref<4x16384xi64>
  %r = host.alloc : memref<4x16384xi64>
  %first = host.resource @first : memref<4xi32>
  host.launch @copy grid [64, 4](%x, %a) : memref<4x16384xi64>, memref<4x16384xi64>
  // expected-remark@+1 {{missed: 'host.launch': @take is not chained to @copy: 4 of 4 rows of @take depend on each other}}
  host.launch @take grid [64, 4](%first, %a, %r) : memref<4xi32>, memref<4x16384xi64>, memref<4x16384xi64>
  return %r : memref<4x16384xi64>
}

// Any row may read any row.
func.func @unknown(%x : memref<4x16384xi64>, %words : memref<4xi64>) -> memref<4x16384xi64> {
  %a = host.alloc : memref<4x16384xi64>
  %r = host.alloc : memref<4x16384xi64>
  host.launch @copy grid [64, 4](%x, %a) : memref<4x16384xi64>, memref<4x16384xi64>
  // expected-remark@+1 {{@look_up is not chained to @copy: 4 of 4 rows of @copy depend on each other}}
  host.launch @look_up grid [64, 4](%words, %a, %r) : memref<4xi64>, memref<4x16384xi64>, memref<4x16384xi64>
  return %r : memref<4x16384xi64>
}

// Row 2 and 3 are written where rows 0 and 1 are read: the arena is used again, a row further on.
func.func @arena(%x : memref<4x16384xi64>) {
  %arena = host.alloc : memref<1048576xi8>
  %a = host.view %arena at 0 : memref<1048576xi8> -> memref<4x16384xi64>
  %b = host.view %arena at 131072 : memref<1048576xi8> -> memref<4x16384xi64>
  host.launch @copy grid [64, 4](%x, %a) : memref<4x16384xi64>, memref<4x16384xi64>
  // expected-remark@+1 {{@copy is not chained to @copy: 4 of 4 rows of @copy depend on each other}}
  host.launch @copy grid [64, 4](%a, %b) : memref<4x16384xi64>, memref<4x16384xi64>
  return
}

// Nothing is handed on.
func.func @apart(%x : memref<4x16384xi64>) -> memref<4x16384xi64> {
  %a = host.alloc : memref<4x16384xi64>
  host.launch @copy grid [64, 4](%x, %a) : memref<4x16384xi64>, memref<4x16384xi64>
  // expected-remark@+1 {{@copy is not chained to @copy: it reads nothing that they write}}
  host.launch @copy grid [64, 4](%x, %a) : memref<4x16384xi64>, memref<4x16384xi64>
  return %a : memref<4x16384xi64>
}

// An argument of the function is written, and it may be the same memory as another one.
func.func @argument(%x : memref<4x16384xi64>, %y : memref<4x16384xi64>) {
  %a = host.alloc : memref<4x16384xi64>
  host.launch @copy grid [64, 4](%x, %a) : memref<4x16384xi64>, memref<4x16384xi64>
  // expected-remark@+1 {{@copy is not chained to @copy: they write more than what the function allocates}}
  host.launch @copy grid [64, 4](%a, %y) : memref<4x16384xi64>, memref<4x16384xi64>
  return
}

// A row that is handed on takes more than half of the cache.
func.func @large(%x : memref<8x131072xi64>) {
  %arena = host.alloc : memref<16777216xi8>
  %a = host.view %arena at 0 : memref<16777216xi8> -> memref<8x131072xi64>
  %b = host.view %arena at 8388608 : memref<16777216xi8> -> memref<8x131072xi64>
  host.launch @long grid [512, 8](%x, %a) : memref<8x131072xi64>, memref<8x131072xi64>
  // expected-remark@+1 {{@long is not chained to @long: 1048576 bytes that a row hands on do not stay in a cache}}
  host.launch @long grid [512, 8](%a, %b) : memref<8x131072xi64>, memref<8x131072xi64>
  return
}

// Few bytes stay in the cache anyway: nothing is said of them. Neither of launches with something between them.
func.func @small(%x : memref<4x16384xi64>, %y : memref<1x16384xi64>) {
  %a = host.alloc : memref<1x16384xi64>
  %b = host.alloc : memref<4x16384xi64>
  %event = host.record stream 0 : !host.event
  host.launch @copy grid [64, 1](%y, %a) : memref<1x16384xi64>, memref<1x16384xi64>
  host.launch @copy grid [64, 1](%a, %a) : memref<1x16384xi64>, memref<1x16384xi64>
  host.launch @copy grid [64, 4](%x, %b) : memref<4x16384xi64>, memref<4x16384xi64>
  host.wait stream 0 for %event : !host.event
  host.launch @copy grid [64, 4](%b, %b) : memref<4x16384xi64>, memref<4x16384xi64>
  return
}
