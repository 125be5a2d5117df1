// RUN: not fhelium-opt %s --split-input-file -p select-arithmetic > %t.out 2> %t.err
// RUN: not fhelium-opt %s -p 'select-arithmetic{device=gpuu}' >> %t.out 2>> %t.err
// RUN: not fhelium-opt %s -p 'select-arithmetic{arithmetic=mont128}' >> %t.out 2>> %t.err
// RUN: not fhelium-opt %s -p 'select-arithmetic{device="%S/Inputs/bad_field.json"}' >> %t.out 2>> %t.err
// RUN: not fhelium-opt %s -p 'select-arithmetic{device="%S/Inputs/unknown_field.json"}' >> %t.out 2>> %t.err
// RUN: not fhelium-opt %s -p 'select-arithmetic{device="%S/Inputs/missing.json"}' >> %t.out 2>> %t.err
// RUN: filecheck %s < %t.err

// CHECK: select_arithmetic_errors.mlir:[[# @LINE + 1]]:1: error: select-arithmetic: mont32 admits primes below 2^30, q1 = 4293918721 does not fit
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [268369921, 4293918721], p = [4294475777], digits = 2, scale = 2**20, secret = ternary>, rns.arithmetic = #rns.arithmetic<mont32>} {
}

// -----

// CHECK: select_arithmetic_errors.mlir:[[# @LINE + 1]]:1: error: the module has no attribute `ckks.params = #ckks.params<...>`
module {
}

// CHECK: error: unknown device 'gpuu'; did you mean 'gpu'?
// CHECK: error: pass 'select-arithmetic': unknown arithmetic 'mont128'; did you mean
// CHECK: error: device '{{.*}}bad_field.json': the field 'register_stages' must be an integer from 1 to 4, found 5
// CHECK: error: device '{{.*}}unknown_field.json': unknown field 'register_stage'; did you mean 'register_stages'?
// CHECK: error: cannot read device '{{.*}}missing.json': No such file or directory
// CHECK-NOT: error:
