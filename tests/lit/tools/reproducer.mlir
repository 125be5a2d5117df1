// A failing pass leaves a file that fails in the same way.
// RUN: rm -f %t.repro && not fhelium-opt %s -p cse,ckks-check,dce --crash-reproducer %t.repro 2> %t.err
// RUN: not fhelium-opt --run-reproducer %t.repro 2> %t.again
// RUN: filecheck %s < %t.err && filecheck %s --check-prefix=AGAIN < %t.again && filecheck %s --check-prefix=FILE < %t.repro
// RUN: not fhelium-opt --run-reproducer %s 2>&1 | filecheck %s --check-prefix=NONE
// RUN: rm -f %t.none && fhelium-opt %s -p cse --crash-reproducer %t.none -o %t.out && not ls %t.none
// RUN: not fhelium-opt %s --run-reproducer %t.repro 2>&1 | filecheck %s --check-prefix=BOTH

// CHECK:      note: wrote the reproducer '{{.*}}.repro'
// CHECK-NEXT: reproducer.mlir:{{[0-9:]+}}: error: [[ERROR:.*]]
// AGAIN:      .repro:{{[0-9:]+}}: error: {{.*}}level
// FILE:       {{^}}// fhelium-opt reproducer; replay it with --run-reproducer
// FILE-NEXT:  {{^}}// options: -p ckks-check,dce
// FILE-NEXT:  {{^}}// error: {{.*}}level
// FILE-NEXT:  {{^}}builtin.module
// NONE:       error: this is no reproducer
// BOTH:       error: --run-reproducer stands for FILE and -p

module attributes {ckks.params = #ckks.params<
  ring_degree = 64, q = [1152921504606844289, 1099511623297], p = [1152921504606844417],
  digits = 2, scale = 2**40, secret = ternary, insecure>} {
func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  return %x : !ckks.ciphertext
}
}
