"""Strict operations: one file a family; a primitive, its rules and its public function together.

Files depend on each other only in this order: linear, elementwise, arithmetic, compare, unary,
binary, complex, convert, special, shape, slicing, gather, reduce, windows, sorting, dot, convolution.
"""
