// heir-opt dot_product.mlir '--annotate-module=backend=openfhe scheme=ckks' '--mlir-to-ckks=min-slot-count=16 scaling-mod-bits=40 first-mod-bits=50' --mlir-print-op-generic --mlir-print-local-scope
func.func @dot_product(%x: tensor<16xf32> {secret.secret}, %y: tensor<16xf32> {secret.secret}) -> f32 {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %r = linalg.dot ins(%x, %y : tensor<16xf32>, tensor<16xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  %value = tensor.extract %r[] : tensor<f32>
  return %value : f32
}
