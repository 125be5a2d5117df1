// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// One prime goes from the level and from the scale.
// CHECK-LABEL: func.func @f
// CHECK: %r = ckks.rescale %x : !ckks.ciphertext<level = 2, scale = 2**80 * q2>
// CHECK-NEXT: %s = ckks.rescale %r : !ckks.ciphertext<level = 1, scale = 2**80>
// CHECK-NEXT: func.return %s : !ckks.ciphertext<level = 0, scale = 2**80 / q1>
// GENERIC: "ckks.rescale"(%x) : (!ckks.ciphertext<level = 2, scale = 2**80 * q2>) -> !ckks.ciphertext<level = 1, scale = 2**80>
func.func @f(%x : !ckks.ciphertext<level = 2, scale = 2**80 * q2>) -> !ckks.ciphertext<level = 0, scale = 2**80 / q1> {
  %r = ckks.rescale %x : !ckks.ciphertext<level = 2, scale = 2**80 * q2>
  %s = ckks.rescale %r : !ckks.ciphertext<level = 1, scale = 2**80>
  return %s : !ckks.ciphertext<level = 0, scale = 2**80 / q1>
}

// Which prime goes is known only with the level; a size-3 ciphertext keeps its size.
// CHECK-LABEL: func.func @open
// CHECK: func.return %r : !ckks.ciphertext<level = ?, scale = ?, size = 3>
func.func @open(%x : !ckks.ciphertext<scale = 2**80, size = 3>) -> !ckks.ciphertext<size = 3> {
  %r = ckks.rescale %x : !ckks.ciphertext<scale = 2**80, size = 3>
  return %r : !ckks.ciphertext<size = 3>
}
