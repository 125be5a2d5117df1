// RUN: fhelium-opt %s --load-implementation %root/examples/implementations/exact_rns.py -p fhelium-default --stop-after plan-memory > %t.regions
// RUN: filecheck %s --check-prefix=REGIONS < %t.regions
// RUN: fhelium-opt %s --load-implementation %root/examples/implementations/exact_rns.py -p fhelium-default > %t.host
// RUN: filecheck %s --check-prefix=HOST < %t.host
// RUN: fhelium-opt %t.host -t host | filecheck %s --check-prefix=SOURCE
// RUN: not fhelium-opt %t.host -t python 2>&1 | filecheck %s --check-prefix=PYTHON
// RUN: fhelium-opt %s -p fhelium-default | filecheck %s --check-prefix=DEFAULT
// RUN: not fhelium-opt %s --no-default-implementations -p fhelium-default 2>&1 | filecheck %s --check-prefix=EMPTY
// RUN: not fhelium-opt %s --load-implementation absent.py 2>&1 | filecheck %s --check-prefix=ABSENT
// RUN: fhelium-opt %t.regions -p convert-regions-to-kernels,convert-zq-to-arith | diff %t.host -

// Two implementations from a file: one executes every rns.mul as a whole, one takes regions of sums. The attribute on
// the op says which; the rest goes into regions of the compiler's own, which carry no name.
// REGIONS-LABEL: func.func @square
// REGIONS: rns.mul %{{[^ ]+}}, %{{[^ ]+}} {fusion.implementation = "exact-multiply", fusion.resources = [@moduli_0]}
// REGIONS: rns.mul {{.*}}fusion.implementation = "exact-multiply"{{.*}}fusion.in_place
// REGIONS: fusion.region({{.*}}fusion.implementation = "plain-sums"
// REGIONS: rns.add
// REGIONS: fusion.region(
// REGIONS-NOT: fusion.implementation
// REGIONS: ntt.inverse

// What stays whole becomes an operation of the host stage, and a call.
// HOST: host.operation @operation_0 "exact-multiply" (
// HOST-NEXT: rns.mul
// HOST-NEXT: }
// HOST: host.operation @operation_{{[0-9]+}} "plain-sums" (
// HOST-NEXT: fusion.region(
// HOST-LABEL: func.func @square
// HOST: host.call @operation_0(
// HOST: host.launch

// SOURCE: call = host.operation('operation_0', False)
// SOURCE: def run(x_):
// SOURCE: {{.*}}, = call({{.*}}, moduli_)

// PYTHON: error: 'square' calls @operation_0: what an implementation executes as a whole cannot be exported

// DEFAULT: kernel.func @{{[a-z_]+}}_0(
// DEFAULT-NOT: fusion.implementation
// DEFAULT-NOT: host.call

// EMPTY: custom_implementations.mlir:[[# @LINE + 8]]:{{[0-9]+}}: error: form-fusion-regions: no implementation executes 'rns.{{[a-z_]+}}'; asked for a region: there are none

// ABSENT: error: cannot read 'absent.py': No such file or directory

module attributes {ckks.params = #ckks.params<ring_degree = 16,
  q = [1152921504606748673, 1099511480321], p = [1152921504606830593],
  digits = 2, scale = 2**40, secret = ternary, insecure>} {
func.func @square(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %xx = ckks.mul %x, %x : !ckks.ciphertext
  %r = ckks.relinearize %xx : !ckks.ciphertext
  %s = ckks.rescale %r : !ckks.ciphertext
  return %s : !ckks.ciphertext
}
}
