"""Products of many elements: dot, convolution, fft."""
