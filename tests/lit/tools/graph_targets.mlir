// RUN: fhelium-opt %s -p fhelium-default --stop-after plan-memory -t dot | filecheck %s --check-prefix=DOT
// RUN: fhelium-opt %s -p fhelium-default --stop-after plan-memory -t svg | filecheck %s --check-prefix=SVG
// RUN: fhelium-opt %s -t dot | filecheck %s --check-prefix=PROGRAM

// DOT:      digraph module {
// DOT:        n0 [label="%x", shape=ellipse];
// DOT:        subgraph cluster_0 {
// DOT-NEXT:     label="region";
// DOT-NEXT:     n1 [label="rns.restrict"];
// DOT-NEXT:     n2 [label="ntt.inverse"];
// DOT:        subgraph cluster_1 {
// DOT-NEXT:     label="region %y";
// DOT:        n0 -> n1 [label="evaluation, level 1, 2 KiB"];
// DOT-NEXT:   n1 -> n2 [label="evaluation, q 1:2, 1 KiB"];
// DOT:        [label="coefficient, level 0, 1 KiB"];

// PROGRAM:      n0 [label="%x", shape=ellipse];
// PROGRAM-NEXT: n1 [label="%y = ckks.rescale"];
// PROGRAM:      n0 -> n1 [label="evaluation, level 1"];
// PROGRAM-NEXT: n1 -> n2 [label="evaluation, level 0"];

// SVG:      <svg xmlns="http://www.w3.org/2000/svg"
// SVG:      <path d="M{{.*}}<title>{{.*}}coefficient, q 1:2, 1 KiB</title></path>
// SVG:      >ntt.inverse</text>
// SVG:      >evaluation, level 1, 2 KiB</text>
// SVG:      </svg>

module attributes {ckks.params = #ckks.params<
  ring_degree = 64, q = [1152921504606844289, 1099511623297], p = [1152921504606844417],
  digits = 2, scale = 2**40, secret = ternary, insecure>} {
func.func @f(%x : !ckks.ciphertext<level = 1, scale = 2**80>)
    -> !ckks.ciphertext<level = 0, scale = 2**80 / q1> {
  %y = ckks.rescale %x : !ckks.ciphertext<level = 1, scale = 2**80>
  return %y : !ckks.ciphertext<level = 0, scale = 2**80 / q1>
}
}
