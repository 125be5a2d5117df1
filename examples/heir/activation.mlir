// heir-opt activation.mlir '--annotate-module=backend=openfhe scheme=ckks' '--mlir-to-ckks=min-slot-count=8 scaling-mod-bits=40 first-mod-bits=50' --mlir-print-op-generic --mlir-print-local-scope
func.func @activation(%x: tensor<8xf32> {secret.secret}) -> tensor<8xf32> {
  %r = math.tanh %x {domain_lower = -2.0 : f64, domain_upper = 2.0 : f64, degree = 7 : i32} : tensor<8xf32>
  return %r : tensor<8xf32>
}
