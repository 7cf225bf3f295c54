module @"<lambda>" {
  func.func public @main(%arg0: tensor<3xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<4x3xf32> {jax.buffer_donor = true}) -> (tensor<3xf32>, tensor<2x3xf32>) {
    %0 = stablehlo.slice %arg1 [0:2, 0:3] : (tensor<4x3xf32>) -> tensor<2x3xf32>
    %1 = stablehlo.slice %arg1 [2:4, 0:3] : (tensor<4x3xf32>) -> tensor<2x3xf32>
    %2 = func.call @step(%arg0) : (tensor<3xf32>) -> tensor<3xf32>
    %3 = func.call @step(%2) : (tensor<3xf32>) -> tensor<3xf32>
    %4 = stablehlo.multiply %3, %3 : tensor<3xf32>
    %5 = stablehlo.multiply %4, %3 : tensor<3xf32>
    %8 = stablehlo.constant dense<3> : tensor<i32>
    %16:2 = stablehlo.while(%6 = %8, %7 = %5) : tensor<i32>, tensor<3xf32> cond {
      %9 = stablehlo.constant dense<0> : tensor<i32>
      %10 = stablehlo.compare GT, %6, %9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %10 : tensor<i1>
    } do {
      %11 = stablehlo.constant dense<1> : tensor<i32>
      %12 = stablehlo.subtract %6, %11 : tensor<i32>
      %13 = stablehlo.sine %7 : tensor<3xf32>
      %14 = stablehlo.constant dense<1.0> : tensor<3xf32>
      %15 = stablehlo.add %13, %14 : tensor<3xf32>
      stablehlo.return %12, %15 : tensor<i32>, tensor<3xf32>
    }
    %17 = stablehlo.constant dense<0.1> : tensor<3xf32>
    %18 = stablehlo.multiply %16#1, %17 : tensor<3xf32>
    return %18, %1 : tensor<3xf32>, tensor<2x3xf32>
  }
  func.func private @step(%arg0: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.sine %arg0 : tensor<3xf32>
    %1 = stablehlo.constant dense<1.0> : tensor<3xf32>
    %2 = stablehlo.add %0, %1 : tensor<3xf32>
    return %2 : tensor<3xf32>
  }
}
