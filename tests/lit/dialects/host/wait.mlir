// RUN: fhelium-opt %s | fhelium-opt --print-generic | fhelium-opt | filecheck %s
// RUN: fhelium-opt %s --print-generic | filecheck %s --check-prefix=GENERIC

// CHECK: host.wait stream 0 for %done : !host.event
// GENERIC: "host.wait"(%done) <{stream = 0 : i64}> : (!host.event) -> ()
func.func @main() {
  %done = host.record stream 1 : !host.event
  host.wait stream 0 for %done : !host.event
  return
}
