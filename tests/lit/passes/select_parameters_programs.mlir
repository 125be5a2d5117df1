// What is wrong with a program is said at its line, and not met later on.
// RUN: not fhelium-opt %s --split-input-file -p select-parameters 2>&1 | filecheck %s

// CHECK: select_parameters_programs.mlir:[[# @LINE + 1]]:1: error: select-parameters: argument 1 of @index must be a ciphertext or a plaintext, found index
func.func @index(%x : !ckks.ciphertext, %k : index) -> !ckks.ciphertext {
  return %x : !ckks.ciphertext
}

// -----

// CHECK: select_parameters_programs.mlir:[[# @LINE + 1]]:1: error: argument 0 of @slots: ckks.slots must be an integer that divides the slot count 512, found 3 : i64
func.func @slots(%x : !ckks.ciphertext {ckks.slots = 3 : i64}) -> !ckks.ciphertext {
  return %x : !ckks.ciphertext
}

// -----

func.func @length(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %v = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf64>
  // CHECK: select_parameters_programs.mlir:[[# @LINE + 1]]:8: error: ckks.encode: the length 3 does not divide the slot count 512
  %p = ckks.encode %v : tensor<3xf64> -> !ckks.plaintext
  %r = ckks.add_plain %x, %p : !ckks.ciphertext, !ckks.plaintext
  return %r : !ckks.ciphertext
}

// -----

// CHECK: select_parameters_programs.mlir:[[# @LINE + 1]]:1: error: the scale {{.*}} out of range
module {
func.func @large(%x : !ckks.ciphertext {ckks.range = 1.0e+250 : f64}) -> !ckks.ciphertext {
  %a = ckks.add %x, %x {ckks.range = 1.0e+250 : f64} : !ckks.ciphertext
  return %a : !ckks.ciphertext
}
}
