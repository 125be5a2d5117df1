// RUN: not fhelium-opt %s -p select-parameters --split-input-file 2>&1 | filecheck %s

// Levels and scales that are the writer's need the writer's chain.
// CHECK: select_parameters_managed.mlir:[[# @LINE + 1]]:1: error: the module has no attribute `ckks.params = #ckks.params<...>`
module {
func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext<level = ?> {
  %a = ckks.mul %x, %x : !ckks.ciphertext
  %b = "ckks.relinearize"(%a) : (!ckks.ciphertext) -> !ckks.ciphertext<level = ?>
  return %b : !ckks.ciphertext<level = ?>
}
}

// -----

module {
// CHECK: select_parameters_managed.mlir:[[# @LINE + 1]]:1: error: select-parameters: an argument states a level or a scale, but there are no parameters
func.func @f(%x : !ckks.ciphertext<level = 1>) -> !ckks.ciphertext {
  %a = "ckks.negate"(%x) : (!ckks.ciphertext<level = 1>) -> !ckks.ciphertext
  return %a : !ckks.ciphertext
}
}

// -----

module {
func.func @f(%x : !ckks.ciphertext {ckks.range = 1.0e+300 : f64}) -> !ckks.ciphertext {
// CHECK: select_parameters_managed.mlir:[[# @LINE + 1]]:8: error: a value has no bound: state smaller inputs with ckks.range
  %a = ckks.mul %x, %x : !ckks.ciphertext
  return %a : !ckks.ciphertext
}
}
