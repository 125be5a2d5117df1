// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: func.func @f
// CHECK: %r = ckks.adopt_scale %x {tolerance = {{1e-06|1.000000e-06}} : f64} : !ckks.ciphertext<level = 1, scale = 2**80 / q2> -> !ckks.ciphertext<level = 1, scale = 2**40>
// GENERIC: %r = "ckks.adopt_scale"(%x) <{tolerance = {{1e-06|1.000000e-06}} : f64}> : (!ckks.ciphertext<level = 1, scale = 2**80 / q2>) -> !ckks.ciphertext<level = 1, scale = 2**40>
func.func @f(%x : !ckks.ciphertext<level = 1, scale = 2**80 / q2>) -> !ckks.ciphertext<level = 1, scale = 2**40> {
  %r = ckks.adopt_scale %x {tolerance = 1.0e-6 : f64} : !ckks.ciphertext<level = 1, scale = 2**80 / q2> -> !ckks.ciphertext<level = 1, scale = 2**40>
  return %r : !ckks.ciphertext<level = 1, scale = 2**40>
}
