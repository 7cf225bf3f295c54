"""How the polynomials in `hloom.ops` were made, and how far each is from its function.

`fitting` has three ways to make a polynomial, `tables` a row for each table of coefficients.
`make polynomials` makes every table anew, compares it with the one in the source, and writes
docs/polynomials.md; `make fits` tests that the page is current.
"""
