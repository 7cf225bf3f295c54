"""Strict operations: one file a family; a primitive, its rules and its public function together.

Files depend on each other only in this order: linear, formula, elementwise, arithmetic, compare,
complex, convert, unary, trigonometric, binary, special, shape, slicing, gather, reduce, windows,
sorting, dot, convolution.  Lowerings that are long are programs of their own, written in `formula`:
programs (f32, f64), complex_programs, special_programs.
"""
