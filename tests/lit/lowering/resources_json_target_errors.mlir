// RUN: not fhelium-opt %s -t resources-json > %t.out 2> %t.err
// RUN: filecheck %s < %t.err
// RUN: filecheck %s --check-prefix=NOTHING --allow-empty < %t.out

// CHECK: resources_json_target_errors.mlir:[[# @LINE + 3]]:1: error: resource @key has no shape; run infer-resources first
// NOTHING-NOT: {{.}}

resource.declare @key "relinearization_key"
