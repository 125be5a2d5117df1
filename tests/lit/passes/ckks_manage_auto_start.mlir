// RUN: fhelium-opt %s -p ckks-manage,ckks-check | filecheck %s --check-prefix=NEEDED
// RUN: fhelium-opt %s -p 'ckks-manage{start=needed},ckks-check' | filecheck %s --check-prefix=NEEDED
// RUN: fhelium-opt %s -p 'ckks-manage{start=top},ckks-check' | filecheck %s --check-prefix=TOP
// RUN: fhelium-opt %s -p ckks-manage --remarks applied 2>&1 | filecheck %s --check-prefix=REMARK

module attributes {ckks.params = #ckks.params<
    ring_degree = 8192, q = [281474976546817, 274877202433, 274877562881, 274878136321],
    p = [281474976694273], digits = 4, scale = 2**38, secret = ternary>} {
// One level is enough: the function starts at level 1, at exactly S_1, or at the top.
// NEEDED-LABEL: func.func @square(
// NEEDED-SAME: %x: !ckks.ciphertext<level = 1, scale = 2**152 / q2 / q3**2>) -> !ckks.ciphertext<level = 0, scale = 2**304 / q1 / q2**2 / q3**4>
// NEEDED-NEXT: %a = ckks.mul %x, %x
// NEEDED-NEXT: %a_1 = ckks.relinearize %a
// NEEDED-NEXT: %a_2 = ckks.rescale %a_1
// NEEDED-NEXT: func.return %a_2
// TOP-LABEL: func.func @square(
// TOP-SAME: %x: !ckks.ciphertext<level = 3, scale = 2**38>) -> !ckks.ciphertext<level = 2, scale = 2**76 / q3>
// TOP-NEXT: %a = ckks.mul %x, %x
// TOP-NEXT: %a_1 = ckks.relinearize %a
// TOP-NEXT: %a_2 = ckks.rescale %a_1
// TOP-NEXT: func.return %a_2
// REMARK: ckks_manage_auto_start.mlir:[[# @LINE + 1]]:1: remark: [ckks-manage] applied: 'func.func': managed with 1 of 3 levels, from level 1 down
func.func @square(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %a = ckks.mul %x, %x : !ckks.ciphertext
  return %a : !ckks.ciphertext
}

// 600 squared needs 19 bits above the scale: one more prime is kept.
// NEEDED-LABEL: func.func @large(
// NEEDED-SAME: %x: !ckks.ciphertext<level = 2, scale = 2**76 / q3> {ckks.range = 6.000000e+02 : f64}) -> !ckks.ciphertext<level = 1, scale = 2**152 / q2 / q3**2>
// NEEDED-NEXT: %a = ckks.mul %x, %x
// NEEDED-NEXT: %a_1 = ckks.relinearize %a
// NEEDED-NEXT: %a_2 = ckks.rescale %a_1
// NEEDED-NEXT: func.return %a_2
// REMARK: managed with 1 of 3 levels, from level 2 down
func.func @large(%x : !ckks.ciphertext {ckks.range = 600.0 : f64}) -> !ckks.ciphertext {
  %a = ckks.mul %x, %x : !ckks.ciphertext
  return %a : !ckks.ciphertext
}

// A level that an argument states is kept, and the others count from the top.
// NEEDED-LABEL: func.func @stated(
// NEEDED-SAME: %x: !ckks.ciphertext<level = 2, scale = 2**76 / q3>, %y: !ckks.ciphertext<level = 2, scale = 2**76 / q3>) -> !ckks.ciphertext<level = 1, scale = 2**152 / q2 / q3**2>
// NEEDED-NEXT: %a = ckks.mul %x, %y
// NEEDED-NEXT: %a_1 = ckks.relinearize %a
// NEEDED-NEXT: %a_2 = ckks.rescale %a_1
// NEEDED-NEXT: func.return %a_2
// REMARK: managed with 2 of 3 levels, from level 3 down
func.func @stated(%x : !ckks.ciphertext<level = 2, scale = 2**76 / q3>, %y : !ckks.ciphertext) -> !ckks.ciphertext {
  %a = ckks.mul %x, %y : !ckks.ciphertext<level = 2, scale = 2**76 / q3>, !ckks.ciphertext -> !ckks.ciphertext
  return %a : !ckks.ciphertext
}
}
