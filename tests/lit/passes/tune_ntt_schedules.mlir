// RUN: fhelium-opt %s -p tune-ntt-schedules --remarks=all 2> %t.err | filecheck %s --check-prefix=GPU
// RUN: filecheck %s --check-prefix=REMARKS < %t.err
// RUN: fhelium-opt %s -p 'tune-ntt-schedules{device=cpu}' | filecheck %s --check-prefix=CPU
// RUN: fhelium-opt %s -p 'tune-ntt-schedules{device=interpreter}' | filecheck %s --check-prefix=WIDE
// RUN: fhelium-opt %s -p 'tune-ntt-schedules{device="%S/Inputs/wide_words.json"}' | filecheck %s --check-prefix=JSON
// RUN: fhelium-opt %s -p 'tune-ntt-schedules{device="%S/Inputs/no_exchange.json"}' | filecheck %s --check-prefix=PLAIN

// Each device splits each ring degree in its own way. Radix 16 with an exchange makes a kernel of up to eight
// stages; without exchanges a kernel has four; a device of radix 8 has six.
// JSON-LABEL: func.func @n8192(
// JSON:         ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[3, 2], [3, 2], [3]], rows = 1, columns = 8, warps = 2>}
// JSON-LABEL: func.func @n65536(
// JSON:         ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[3, 3], [3, 2], [3, 2]], rows = 1, columns = 8, warps = 2>}

// GPU-LABEL: func.func @n8(
// GPU:         ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[3]], rows = 1, columns = 1, warps = 1>}
// CPU-LABEL: func.func @n8(
// CPU:         ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[3]], rows = 1, columns = 1, warps = 1>}
// PLAIN-LABEL: func.func @n8(
// PLAIN:       ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[3]], rows = 1, columns = 1, warps = 1>}
// WIDE-LABEL: func.func @n8(
// WIDE:         ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[3]], rows = 4, columns = 1, warps = 1>}
func.func @n8(%x : !rns.poly<8, q 0:2, coefficient>) -> !rns.poly<8, q 0:2, evaluation(bit_reversed)> {
  %y = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !rns.poly<8, q 0:2, coefficient>
  return %y : !rns.poly<8, q 0:2, evaluation(bit_reversed)>
}

// GPU-LABEL: func.func @n256(
// GPU:         ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[4, 4]], rows = 1, columns = 1, warps = 1>}
// CPU-LABEL: func.func @n256(
// CPU:         ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[4, 4]], rows = 1, columns = 1, warps = 1>}
// PLAIN-LABEL: func.func @n256(
// PLAIN:       ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[4], [4]], rows = 1, columns = 16, warps = 1>}
// WIDE-LABEL: func.func @n256(
// WIDE:         ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[4, 4]], rows = 4, columns = 1, warps = 2>}
func.func @n256(%x : !rns.poly<256, q 0:2, coefficient>) -> !rns.poly<256, q 0:2, evaluation(bit_reversed)> {
  %y = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !rns.poly<256, q 0:2, coefficient>
  return %y : !rns.poly<256, q 0:2, evaluation(bit_reversed)>
}

// GPU-LABEL: func.func @n8192(
// GPU:         ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 8, warps = 4>}
// CPU-LABEL: func.func @n8192(
// CPU:         ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[3, 2], [4, 4]], rows = 1, columns = 8, warps = 1>}
// PLAIN-LABEL: func.func @n8192(
// PLAIN:       ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[4], [3], [3], [3]], rows = 1, columns = 256, warps = 1>}
// WIDE-LABEL: func.func @n8192(
// WIDE:         ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 4, columns = 32, warps = 4>}
func.func @n8192(%x : !rns.poly<8192, q 0:2, coefficient>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)> {
  %y = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !rns.poly<8192, q 0:2, coefficient>
  return %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// GPU-LABEL: func.func @n65536(
// GPU:         ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[4, 4], [4, 4]], rows = 1, columns = 8, warps = 4>}
// CPU-LABEL: func.func @n65536(
// CPU:         ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[4, 4], [4, 4]], rows = 1, columns = 8, warps = 1>}
// PLAIN-LABEL: func.func @n65536(
// PLAIN:       ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[4], [4], [4], [4]], rows = 1, columns = 256, warps = 1>}
// WIDE-LABEL: func.func @n65536(
// WIDE:         ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[4, 4], [4, 4]], rows = 4, columns = 128, warps = 4>}
func.func @n65536(%x : !rns.poly<65536, q 0:2, coefficient>) -> !rns.poly<65536, q 0:2, evaluation(bit_reversed)> {
  %y = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !rns.poly<65536, q 0:2, coefficient>
  return %y : !rns.poly<65536, q 0:2, evaluation(bit_reversed)>
}

// GPU-LABEL: func.func @n131072(
// GPU:         ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[3, 3], [3, 3], [3, 2]], rows = 1, columns = 16, warps = 4>}
// CPU-LABEL: func.func @n131072(
// CPU:         ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[3, 3], [3], [4, 4]], rows = 1, columns = 8, warps = 1>}
// PLAIN-LABEL: func.func @n131072(
// PLAIN:       ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[4], [4], [3], [3], [3]], rows = 1, columns = 256, warps = 1>}
// WIDE-LABEL: func.func @n131072(
// WIDE:         ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[3, 3], [3, 3], [3, 2]], rows = 4, columns = 256, warps = 4>}
func.func @n131072(%x : !rns.poly<131072, q 0:2, coefficient>) -> !rns.poly<131072, q 0:2, evaluation(bit_reversed)> {
  %y = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>} : !rns.poly<131072, q 0:2, coefficient>
  return %y : !rns.poly<131072, q 0:2, evaluation(bit_reversed)>
}

// A hand-written schedule stays, whatever it costs.
// GPU-LABEL: func.func @stated(
// GPU:         ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[4], [3], [3], [3]], rows = 2, columns = 64, warps = 2>}
// GPU:         ntt.inverse %y {schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 8, warps = 4>}
func.func @stated(%x : !rns.poly<8192, q 0:2, coefficient>) -> !rns.poly<8192, q 0:2, coefficient> {
  %y = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[4], [3], [3], [3]], rows = 2, columns = 64, warps = 2>} : !rns.poly<8192, q 0:2, coefficient>
  %z = ntt.inverse %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
  return %z : !rns.poly<8192, q 0:2, coefficient>
}

// Transforms in regions are tuned as well.
// GPU-LABEL: func.func @fused(
// GPU:         ntt.inverse %a {schedule = #ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 8, warps = 4>}
func.func @fused(%x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> !rns.poly<8192, q 0:2, coefficient> {
  %r = fusion.region(%a = %x : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>) -> (!rns.poly<8192, q 0:2, coefficient>) {
    %i = ntt.inverse %a : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
    fusion.yield %i : !rns.poly<8192, q 0:2, coefficient>
  }
  return %r : !rns.poly<8192, q 0:2, coefficient>
}

// REMARKS: remark: [tune-ntt-schedules] missed: 'ntt.forward': kept the stated schedule {{\[\[4\], \[3\], \[3\], \[3\]\]}}, cost 11.070; {{\[\[4, 3\], \[3, 3\]\]}} would cost 6.620
// REMARKS: remark: [tune-ntt-schedules] applied: ring degree 8192 on 'gpu': 3 transforms as {{\[\[4, 3\], \[3, 3\]\]}}, cost 6.620; next best {{\[\[4, 3\], \[4, 2\]\]}}, cost 6.625
