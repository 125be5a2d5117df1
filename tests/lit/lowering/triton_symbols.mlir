// RUN: fhelium-opt %s -t triton | filecheck %s

// A symbol may be any string: text of the input reaches the source only escaped.
// CHECK{LITERAL}: # kernel.func @"a'); import os #"
// CHECK: def a_x27__x29__x3b__x20_import_x20_os_x20__x23_()
// CHECK{LITERAL}: # kernel.func @"\"\n\u00e9"
// CHECK: def _x22__xa__xe9_()
// CHECK{LITERAL}: # kernel.func @"for"
// CHECK: def _x66_or()
kernel.func @"a'); import os #"() lanes [1] grid 1 {
  kernel.return
}
kernel.func @"\"\né"() lanes [1] grid 1 {
  kernel.return
}
kernel.func @for() lanes [1] grid 1 {
  kernel.return
}
