module @chain {
  func.func public @main(%arg0: tensor<3xf32>, %arg1: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.sine %arg0 : tensor<3xf32>
    %1 = stablehlo.constant dense<1.0> : tensor<3xf32>
    %2 = stablehlo.add %0, %1 : tensor<3xf32>
    %3 = stablehlo.multiply %2, %arg1 : tensor<3xf32>
    %4 = stablehlo.sine %3 : tensor<3xf32>
    %5 = stablehlo.add %4, %1 : tensor<3xf32>
    return %5 : tensor<3xf32>
  }
}
