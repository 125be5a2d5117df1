// RUN: not fhelium-opt %s -t host > %t.out 2> %t.err
// RUN: filecheck %s < %t.err
// RUN: filecheck %s --check-prefix=NOTHING --allow-empty < %t.out

// CHECK: host_target_errors.mlir:[[# @LINE + 5]]:8: error: rns.negate is not part of a host program; run convert-regions-to-kernels first
// NOTHING-NOT: {{.}}

!e = !rns.poly<16, q 0:2, evaluation(bit_reversed)>
func.func @early(%x : !e) -> !e {
  %n = rns.negate %x : !e
  return %n : !e
}
