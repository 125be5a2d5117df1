// RUN: fhelium-opt %s | filecheck %s
// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s

// An alias stands for a type of any length.
!product = !ckks.ciphertext<level = 1, scale = 2**80, size = 3>

// A ciphertext of which nothing is written is open; with any fact written, size 2 and the evaluation domain are meant.
// CHECK: func.func private @bare() -> (!ckks.ciphertext, !ckks.plaintext<level = ?, scale = ?>)
func.func private @bare() -> (!ckks.ciphertext, !ckks.plaintext)

// CHECK: func.func private @open() -> !ckks.ciphertext<level = ?, scale = ?, size = ?, domain = ?>
func.func private @open() -> !ckks.ciphertext<domain = ?, size = ?, scale = ?>

// CHECK: func.func private @default() -> !ckks.ciphertext<level = 0, scale = 2**40>
func.func private @default() -> !ckks.ciphertext<domain = evaluation, size = 2, level = 0, scale = 2**40>

// CHECK: func.func private @alias() -> !ckks.ciphertext<level = 1, scale = 2**80, size = 3>
func.func private @alias() -> !product

// Equal scales have one form.
// CHECK: func.func private @scales() -> (!ckks.plaintext<level = ?, scale = 2**41 * 3 / 5 / q1>, !ckks.plaintext<level = ?, scale = 1>, !ckks.plaintext<level = ?, scale = 1 / 2**3>, !ckks.plaintext<level = ?, scale = q0 * q2**2 / q1>)
func.func private @scales() -> (!ckks.plaintext<scale = 6 * 2**40 * q1 / q1**2 / 5>, !ckks.plaintext<scale = 7 / 7 * q3 / q3>, !ckks.plaintext<scale = 4 / 2**5>, !ckks.plaintext<scale = q2 * q0 * q2 / q1>)
