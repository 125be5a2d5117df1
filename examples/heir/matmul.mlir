// heir-opt matmul.mlir '--annotate-module=backend=openfhe scheme=ckks' '--mlir-to-ckks=min-slot-count=32 scaling-mod-bits=40 first-mod-bits=50' --mlir-print-op-generic --mlir-print-local-scope
func.func @matmul(%x: tensor<3x5xf32> {secret.secret}, %y: tensor<5x2xf32> {secret.secret}) -> tensor<3x2xf32> {
  %zero = arith.constant dense<0.0> : tensor<3x2xf32>
  %r = linalg.matmul ins(%x, %y : tensor<3x5xf32>, tensor<5x2xf32>) outs(%zero : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}
