// RUN: fhelium-opt %s --split-input-file -p 'select-arithmetic{device=cpu}' --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err
// RUN: fhelium-opt %s --split-input-file -p select-arithmetic | filecheck %s --check-prefix=GPU
// RUN: fhelium-opt %s --split-input-file -p 'select-arithmetic{device="%S/Inputs/wide_words.json"}' | filecheck %s --check-prefix=SLOW
// RUN: fhelium-opt %s --split-input-file -p 'select-arithmetic{device=cpu arithmetic=mont64}' | filecheck %s --check-prefix=SLOW
// RUN: fhelium-opt %s --split-input-file -p 'select-arithmetic{arithmetic=mixed64}' | filecheck %s --check-prefix=FORCED

// Six primes of ten fit doubles. A card is not kept busy by either group at this ring degree.
// CHECK:   rns.arithmetic = #rns.arithmetic<mixed64>
// GPU:     rns.arithmetic = #rns.arithmetic<mont64>
// SLOW:    rns.arithmetic = #rns.arithmetic<mont64>
// FORCED:  rns.arithmetic = #rns.arithmetic<mixed64>
// REMARKS: select_arithmetic_mixed.mlir:[[# @LINE + 2]]:1: remark: [select-arithmetic] missed: 'builtin.module': fp64 admits primes below 2^50, q0 = 1152921504606601217 does not fit
// REMARKS: select_arithmetic_mixed.mlir:[[# @LINE + 1]]:1: remark: [select-arithmetic] applied: 'builtin.module': mixed64, fp64 for 6 primes and mont64 for 4, cost {{[0-9]+}} instead of {{[0-9]+}} for device 'cpu'
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606601217, 35184371613697, 35184371417089, 35184371138561, 35184371089409, 35184370941953, 35184370794497], p = [1152921504606748673, 1152921504606683137, 1152921504606830593], digits = 3, scale = 2**45, secret = ternary, insecure>} {
}

// -----

// One prime of three saves too little.
// CHECK:   rns.arithmetic = #rns.arithmetic<mont64>
// GPU:     rns.arithmetic = #rns.arithmetic<mont64>
// SLOW:    rns.arithmetic = #rns.arithmetic<mont64>
// FORCED:  rns.arithmetic = #rns.arithmetic<mixed64>
// REMARKS: select_arithmetic_mixed.mlir:[[# @LINE + 2]]:1: remark: [select-arithmetic] missed: 'builtin.module': not mixed64, fp64 for 1 primes and mont64 for 2, cost {{[0-9]+}} instead of {{[0-9]+}}: it has to save a fifth
// REMARKS: select_arithmetic_mixed.mlir:[[# @LINE + 1]]:1: remark: [select-arithmetic] applied: 'builtin.module': mont64 for device 'cpu'
module attributes {ckks.params = #ckks.params<ring_degree = 8192, q = [1152921504606601217, 35184371613697], p = [1152921504606748673], digits = 2, scale = 2**45, secret = ternary, insecure>} {
}
