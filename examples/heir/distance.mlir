// heir-opt distance.mlir '--annotate-module=backend=openfhe scheme=ckks' '--mlir-to-ckks=min-slot-count=16 scaling-mod-bits=40 first-mod-bits=50' --mlir-print-op-generic --mlir-print-local-scope
func.func @distance(%x: tensor<16xf32> {secret.secret}, %y: tensor<16xf32> {secret.secret}) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %d = arith.subf %x, %y : tensor<16xf32>
  %r = linalg.dot ins(%d, %d : tensor<16xf32>, tensor<16xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
