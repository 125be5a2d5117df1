// RUN: fhelium-opt %s -p 'select-arithmetic{arithmetic=smont32}' --remarks=all 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARKS < %t.err
// RUN: fhelium-opt %s -p 'select-arithmetic{device="%S/Inputs/signed.json"}' | filecheck %s

// Signed words are chosen by name, or by a device that prefers them.
// CHECK: rns.arithmetic = #rns.arithmetic<smont32>
// REMARKS: remark: [select-arithmetic] applied: 'builtin.module': smont32, as stated
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [536870657, 536870561], p = [536870849], digits = 2, scale = 2**20, secret = ternary, insecure>} {
}
