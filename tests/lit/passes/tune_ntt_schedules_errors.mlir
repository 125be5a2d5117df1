// RUN: not fhelium-opt %s --split-input-file -p tune-ntt-schedules 2> %t.err
// RUN: filecheck %s < %t.err

func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)> {
  // CHECK: tune_ntt_schedules_errors.mlir:[[# @LINE + 1]]:8: error: tune-ntt-schedules: ntt.forward: kernel [5, 4] has a group of more than 4 stages
  %y = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[5, 4], [4]], rows = 1, columns = 8, warps = 4>} : !rns.poly<8192, q 0:2, coefficient>
  return %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// -----

func.func @f(%x : !rns.poly<128, q 0:2, coefficient>) -> !rns.poly<128, q 0:2, evaluation(bit_reversed)> {
  // CHECK: tune_ntt_schedules_errors.mlir:[[# @LINE + 1]]:8: error: tune-ntt-schedules: ntt.forward: kernel [4, 3] has no room for its exchange in ring degree 128
  %y = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[4, 3]], rows = 1, columns = 1, warps = 1>} : !rns.poly<128, q 0:2, coefficient>
  return %y : !rns.poly<128, q 0:2, evaluation(bit_reversed)>
}

// -----

func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)> {
  // CHECK: tune_ntt_schedules_errors.mlir:[[# @LINE + 1]]:8: error: tune-ntt-schedules: ntt.forward: columns = 64 is more than the 32 columns of kernel [4, 4] in ring degree 8192
  %y = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[4, 4], [4, 1]], rows = 1, columns = 64, warps = 4>} : !rns.poly<8192, q 0:2, coefficient>
  return %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// -----

func.func @f(%x : !rns.poly<8192, q 0:2, coefficient>) -> !rns.poly<8192, q 0:2, evaluation(bit_reversed)> {
  // CHECK: tune_ntt_schedules_errors.mlir:[[# @LINE + 1]]:8: error: 'ntt.forward': the schedule has 12 stages, ring degree 8192 needs 13
  %y = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[4, 4], [4]], rows = 1, columns = 8, warps = 4>} : !rns.poly<8192, q 0:2, coefficient>
  return %y : !rns.poly<8192, q 0:2, evaluation(bit_reversed)>
}

// -----

func.func @f(%x : !rns.poly<65536, q 0:2, coefficient>) -> !rns.poly<65536, q 0:2, evaluation(bit_reversed)> {
  // CHECK: tune_ntt_schedules_errors.mlir:[[# @LINE + 1]]:8: error: tune-ntt-schedules: ntt.forward: kernel [4, 4] exchanges 16 words of each of 2048 lanes, 262144 bytes; the lanes of a program of 'gpu' share 232448
  %y = ntt.forward %x {contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>, schedule = #ntt.schedule<kernels = [[4, 4], [4, 4]], rows = 1, columns = 128, warps = 16>} : !rns.poly<65536, q 0:2, coefficient>
  return %y : !rns.poly<65536, q 0:2, evaluation(bit_reversed)>
}

// CHECK-NOT: error:
