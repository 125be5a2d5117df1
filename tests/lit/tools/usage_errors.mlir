// Each mistake on the command line gives one line on standard error and nothing else.
// RUN: not fhelium-opt %s -p 'cse,canonicalise' > %t.out 2> %t.err
// RUN: not fhelium-opt %s -p 'cse{fast=1}' >> %t.out 2>> %t.err
// RUN: not fhelium-opt %s -p 'cse{' >> %t.out 2>> %t.err
// RUN: not fhelium-opt %s -p cse --stop-after dce >> %t.out 2>> %t.err
// RUN: not fhelium-opt %s -p cse --stop-after csx >> %t.out 2>> %t.err
// RUN: not fhelium-opt %s -p 'fhelium-default{x=1}' >> %t.out 2>> %t.err
// RUN: not fhelium-opt %s -t tritn >> %t.out 2>> %t.err
// RUN: not fhelium-opt %s --verify-eech >> %t.out 2>> %t.err
// RUN: not fhelium-opt %s %s >> %t.out 2>> %t.err
// RUN: not fhelium-opt %s --remarks=some >> %t.out 2>> %t.err
// RUN: not fhelium-opt %s -p >> %t.out 2>> %t.err
// RUN: not fhelium-opt %t.missing >> %t.out 2>> %t.err
// RUN: not fhelium-opt %s -o %t.missing/out.mlir >> %t.out 2>> %t.err
// RUN: not fhelium-opt --help-pass canonicalise >> %t.out 2>> %t.err
// RUN: not fhelium-opt %s --print-generic -t triton >> %t.out 2>> %t.err
// RUN: filecheck %s < %t.err
// RUN: filecheck %s --check-prefix=NOTHING --allow-empty < %t.out

// CHECK:      {{^}}error: unknown pass or pipeline 'canonicalise'; did you mean 'canonicalize'?
// CHECK-NEXT: {{^}}error: pass 'cse': unknown option 'fast'; there are none
// CHECK-NEXT: {{^}}error: cannot read the pass pipeline 'cse{': Expected argument name here
// CHECK-NEXT: {{^}}error: pass 'dce' is not in the pipeline
// CHECK-NEXT: {{^}}error: unknown pass 'csx'; did you mean 'cse'?
// CHECK-NEXT: {{^}}error: pipeline 'fhelium-default' takes no options
// CHECK-NEXT: {{^}}error: unknown target 'tritn'; did you mean 'triton'?
// CHECK-NEXT: {{^}}error: unknown option '--verify-eech'; did you mean '--verify-each'?
// CHECK-NEXT: {{^}}error: unexpected argument '{{.*}}usage_errors.mlir' (see fhelium-opt --help)
// CHECK-NEXT: {{^}}error: argument --remarks: invalid choice: 'some'
// CHECK-NEXT: {{^}}error: argument -p/--passes: expected one argument
// CHECK-NEXT: {{^}}error: cannot read '{{.*}}.missing': No such file or directory
// CHECK-NEXT: {{^}}error: cannot write '{{.*}}out.mlir': No such file or directory
// CHECK-NEXT: {{^}}error: unknown pass 'canonicalise'; did you mean 'canonicalize'?
// CHECK-NEXT: {{^}}error: --print-generic does not apply to target 'triton'
// CHECK-NOT:  {{.}}

// NOTHING-NOT: {{.}}
func.func private @f() -> ()
