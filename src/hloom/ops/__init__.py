"""Strict operations, in a folder for each family.

A primitive, its rules and its public function are together in one file.  A family imports only
those before it, which `make lint` checks: `common` (expressions, elementwise rows, linear
operations), `elementary` (how functions such as `sin` are computed), `pointwise`, `shapes`,
`indexing`, `order`, `reductions`, `products`, `linalg`.
"""
