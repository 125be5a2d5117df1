// RUN: fhelium-opt %s --split-input-file -p select-arithmetic --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err
// RUN: fhelium-opt %s --split-input-file -p 'select-arithmetic{device="%S/Inputs/wide_words.json"}' | filecheck %s --check-prefix=WIDE
// RUN: fhelium-opt %s --split-input-file -p 'select-arithmetic{arithmetic=mont64}' | filecheck %s --check-prefix=WIDE

// Primes of 28 bits fit 32-bit words where the device has such an arithmetic.
// CHECK:   rns.arithmetic = #rns.arithmetic<smont32>
// WIDE:    rns.arithmetic = #rns.arithmetic<mont64>
// REMARKS: select_arithmetic.mlir:[[# @LINE + 1]]:1: remark: [select-arithmetic] applied: 'builtin.module': smont32 for device 'gpu'
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [268238849, 268271617], p = [268369921], digits = 2, scale = 2**20, secret = ternary>} {
}

// -----

// CHECK:   rns.arithmetic = #rns.arithmetic<mont64>
// WIDE:    rns.arithmetic = #rns.arithmetic<mont64>
// REMARKS: select_arithmetic.mlir:[[# @LINE + 2]]:1: remark: [select-arithmetic] missed: 'builtin.module': smont32 admits primes below 2^30, q0 = 1152921504606683137 does not fit
// REMARKS: select_arithmetic.mlir:[[# @LINE + 1]]:1: remark: [select-arithmetic] applied: 'builtin.module': mont64 for device 'gpu'
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606683137, 1152921504606748673], p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>} {
}

// -----

// One prime of 32 bits is enough to need 64-bit words, and doubles come first on this device.
// CHECK:   rns.arithmetic = #rns.arithmetic<fp64>
// WIDE:    rns.arithmetic = #rns.arithmetic<mont64>
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [268369921, 4293918721], p = [4294475777], digits = 2, scale = 2**20, secret = ternary>} {
}

// -----

// What the module states stays.
// CHECK:   rns.arithmetic = #rns.arithmetic<mont64>
// WIDE:    rns.arithmetic = #rns.arithmetic<mont64>
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [268238849, 268271617], p = [268369921], digits = 2, scale = 2**20, secret = ternary>, rns.arithmetic = #rns.arithmetic<mont64>} {
}
