// RUN: fhelium-opt %s -p fhelium-default -t host > %t.host.py
// RUN: filecheck %s --check-prefix=HOST < %t.host.py
// RUN: fhelium-opt %s -p fhelium-default -t triton > %t.triton.py
// RUN: filecheck %s --check-prefix=TRITON < %t.triton.py
// RUN: %python -c "import ast, sys; print('imports', [ast.unparse(n) for f in sys.argv[1:] for n in ast.walk(ast.parse(open(f).read())) if isinstance(n, (ast.Import, ast.ImportFrom))])" %t.host.py %t.triton.py | filecheck %s --check-prefix=IMPORTS

// Names of the program are data: through the whole pipeline they reach generated source in string literals only.
// IMPORTS: imports ['import triton', 'import triton.language as tl']
module attributes {ckks.params = #ckks.params<ring_degree = 16, q = [1152921504606844513, 1099511627297], p = [1152921504606845473], digits = 2, scale = 2**40, secret = ternary, insecure>} {

// HOST-LABEL: def prepare_0(host):
// HOST-NEXT:      # host program of "a'); import os #"
func.func @"a'); import os #"(%x : !ckks.ciphertext {ckks.name = "'); import os #"}) -> !ckks.ciphertext {
  %a = ckks.rotate %x {steps = 1} : !ckks.ciphertext
  return %a : !ckks.ciphertext
}

// A line break ends no comment; kernels are named by the compiler.
// HOST-LABEL: def prepare_1(host):
// HOST-NEXT:      # host program of '\nimport os\n"""'
// HOST:           host.kernel('pointwise_{{[0-9]}}'
// TRITON:     def pointwise_0(
// TRITON-NOT: import os
func.func @"\0Aimport os\0A\22\22\22"(%x : !ckks.ciphertext) -> !ckks.ciphertext {
  %a = ckks.negate %x : !ckks.ciphertext
  return %a : !ckks.ciphertext
}
}
