// RUN: fhelium-opt %s -t resources-json | filecheck %s
// RUN: fhelium-opt %s -t resources-json | %python -m json.tool > %t.json

// Every resource in the order of declaration, with parameters, shape, word and bytes.
// CHECK:      {
// CHECK-NEXT:   "resources": [
// CHECK-NEXT:     {
// CHECK-NEXT:       "name": "galois_key_5",
// CHECK-NEXT:       "kind": "galois_key",
// CHECK-NEXT:       "parameters": {
// CHECK-NEXT:         "galois": 5,
// CHECK-NEXT:         "exponent": 1
// CHECK-NEXT:       },
// CHECK-NEXT:       "shape": [
// CHECK-NEXT:         3,
// CHECK-NEXT:         2,
// CHECK-NEXT:         4,
// CHECK-NEXT:         16
// CHECK-NEXT:       ],
// CHECK-NEXT:       "dtype": "int64",
// 3 * 2 * 4 * 16 words of 8 bytes.
// CHECK-NEXT:       "bytes": 3072
// CHECK-NEXT:     },
// CHECK-NEXT:     {
// CHECK-NEXT:       "name": "key \"0\"",
// CHECK-NEXT:       "kind": "relinearization_key",
// CHECK-NEXT:       "parameters": {},
// CHECK:            "dtype": "int32",
// CHECK-NEXT:       "bytes": 128
// CHECK:            "name": "constants_0",
// CHECK-NEXT:       "kind": "constants",
// CHECK-NEXT:       "parameters": {
// CHECK-NEXT:         "constant": "#rns.constant<inverse p 0:1>",
// CHECK-NEXT:         "type": "!rns.poly<16, q 0:2, coefficient>",
// CHECK-NEXT:         "exponent": 1
// CHECK:            "bytes": 16
// CHECK:            "name": "p",
// CHECK-NEXT:       "kind": "plaintext",
// CHECK-NEXT:       "parameters": {
// CHECK-NEXT:         "values": [
// CHECK-NEXT:           0.5,
// CHECK-NEXT:           -1.0
// CHECK-NEXT:         ],
// CHECK-NEXT:         "level": 1,
// CHECK-NEXT:         "scale": "2/1"
// CHECK:            "bytes": 256
// CHECK-NEXT:     }
// CHECK-NEXT:   ],
// The keys that the client must send.
// CHECK-NEXT:   "required_keys": [
// CHECK-NEXT:     {
// CHECK-NEXT:       "kind": "galois_key",
// CHECK-NEXT:       "galois": 5,
// CHECK-NEXT:       "exponent": 1
// CHECK-NEXT:     },
// CHECK-NEXT:     {
// CHECK-NEXT:       "kind": "relinearization_key"
// CHECK-NEXT:     }
// CHECK-NEXT:   ],
// 3072 + 128 + 16 + 256.
// CHECK-NEXT:   "total_bytes": 3472
// CHECK-NEXT: }
resource.declare @galois_key_5 "galois_key" {galois = 5 : i64, exponent = 1 : i64} : memref<3x2x4x16xi64>
resource.declare @"key \220\22" "relinearization_key" : memref<1x2x1x16xi32>
resource.declare @constants_0 "constants" {constant = #rns.constant<inverse p 0:1>, type = !rns.poly<16, q 0:2, coefficient>, exponent = 1 : i64} : memref<2xi64>
resource.declare @p "plaintext" {values = dense<[0.5, -1.0]> : tensor<2xf64>, level = 1 : i64, scale = "2/1"} : memref<1x2x16xi64>
