// RUN: fhelium-opt --list-passes | filecheck %s --check-prefix=PASSES
// RUN: fhelium-opt --list-pipelines | filecheck %s --check-prefix=PIPELINES
// RUN: fhelium-opt --list-targets | filecheck %s --check-prefix=TARGETS
// RUN: fhelium-opt --list-dialects | filecheck %s --check-prefix=DIALECTS
// RUN: fhelium-opt --help-pass cse | filecheck %s --check-prefix=HELP
// RUN: fhelium-opt --help | filecheck %s --check-prefix=USAGE

// PASSES:      {{^}}ckks-manage{{$}}
// PASSES-NEXT: {{^}}ckks-check{{$}}
// PASSES:      {{^}}track-montgomery{{$}}
// PASSES-NEXT: {{^}}form-fusion-regions{{$}}
// PASSES:      {{^}}canonicalize{{$}}
// PASSES:      {{^}}cse{{$}}
// PASSES-NEXT: {{^}}dce{{$}}

// The order is part of the design: a pass relies on those before it.
// PIPELINES: fhelium-default: unroll-loops, ckks-expand, select-parameters, ckks-manage, ckks-check, merge-divisions, convert-ckks-to-rns, place-domains, hoist-rotations, select-arithmetic, select-ntt-schedules, track-montgomery, form-fusion-regions, tune-ntt-schedules, infer-resources, assign-streams, plan-memory, convert-regions-to-kernels, convert-zq-to-arith, chain-launches, assign-cache-hints{{$}}

// TARGETS:      {{^}}mlir{{$}}
// TARGETS-NEXT: {{^}}triton{{$}}
// TARGETS-NEXT: {{^}}llvm{{$}}
// TARGETS-NEXT: {{^}}host{{$}}
// TARGETS-NEXT: {{^}}resources-json{{$}}
// TARGETS-NEXT: {{^}}dot{{$}}
// TARGETS-NEXT: {{^}}svg{{$}}
// TARGETS-NEXT: {{^}}html{{$}}
// TARGETS-NEXT: {{^}}python{{$}}

// DIALECTS:      {{^}}ckks{{$}}
// DIALECTS-NEXT: {{^}}rns{{$}}
// DIALECTS-NEXT: {{^}}ntt{{$}}
// DIALECTS-NEXT: {{^}}fusion{{$}}
// DIALECTS-NEXT: {{^}}resource{{$}}
// DIALECTS-NEXT: {{^}}zq{{$}}
// DIALECTS-NEXT: {{^}}kernel{{$}}
// DIALECTS-NEXT: {{^}}host{{$}}

// HELP:      cse
// HELP:      options:
// HELP-NEXT:   none

// USAGE: usage: fhelium-opt
// USAGE: --list-passes
// USAGE: --help-pass PASS
// USAGE: --remarks {all,applied,missed,analysis}
// USAGE: --print-ir-before PASS
// USAGE: --verify-diagnostics
