// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// The scales multiply and the size grows to 3.
// CHECK-LABEL: func.func @f
// CHECK: %r = ckks.mul %x, %y : !ckks.ciphertext<level = 1, scale = 2**40 / q2>, !ckks.ciphertext<level = 1, scale = 2**38 * 3 * q2>
// CHECK-NEXT: func.return %r : !ckks.ciphertext<level = 1, scale = 2**78 * 3, size = 3>
// GENERIC: "ckks.mul"(%x, %y) : (!ckks.ciphertext<level = 1, scale = 2**40 / q2>, !ckks.ciphertext<level = 1, scale = 2**38 * 3 * q2>) -> !ckks.ciphertext<level = 1, scale = 2**78 * 3, size = 3>
func.func @f(%x : !ckks.ciphertext<level = 1, scale = 2**40 / q2>, %y : !ckks.ciphertext<level = 1, scale = 3 * q2 * 2**38>) -> !ckks.ciphertext<level = 1, scale = 2**78 * 3, size = 3> {
  %r = ckks.mul %x, %y : !ckks.ciphertext<level = 1, scale = 2**40 / q2>, !ckks.ciphertext<level = 1, scale = 2**38 * 3 * q2>
  return %r : !ckks.ciphertext<level = 1, scale = 2**78 * 3, size = 3>
}

// CHECK-LABEL: func.func @open
// CHECK: func.return %r : !ckks.ciphertext<level = ?, scale = ?, size = 3>
func.func @open(%x : !ckks.ciphertext<level = ?>) -> !ckks.ciphertext<size = 3> {
  %r = ckks.mul %x, %x : !ckks.ciphertext<level = ?>
  return %r : !ckks.ciphertext<size = 3>
}
