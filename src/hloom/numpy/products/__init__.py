"""Products: matmul, einsum, convolve."""
