// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK: %done = host.record stream 1 : !host.event
// GENERIC: "host.record"() <{stream = 1 : i64}> : () -> !host.event
func.func @main() {
  %done = host.record stream 1 : !host.event
  return
}
