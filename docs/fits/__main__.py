"""Makes every table of coefficients anew, and prints docs/polynomials.md."""

from __future__ import annotations

from docs.fits.tables import TABLES, Table

PAGE = """\
# Polynomials

Where XLA's own elementary and special functions are slow or inexact, those of `hloom.ops` are
polynomials. This page says how their coefficients were made, so that they can be made again, and
how far each polynomial is from its function. `make polynomials` writes it, from the rows in
`docs/fits/tables.py`; `make fits` tests that it is current.

Most are interpolations at Chebyshev's nodes, or Chebyshev's series. Before their coefficients are
rounded they have up to about ten times the least error that is possible, which counts for nothing
where they are used; but no iteration makes them, and the same bits come out each time.

*Claim* is what the source says; *error* is the largest relative error of the function over the
interval, in exact arithmetic, with the coefficients rounded as they are used. *Least* is the error
of the closest polynomial of that degree, found by Remez' exchange, before its coefficients are
rounded. Below 1e-16 nearly all of the error is that of rounding the first ones.

| table | function | approximation | x from | to | made by | size | claim | error | least |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""


def row(table: Table) -> str:
    """The table's line of the page; AssertionError if the source is not what is made or claimed."""
    shipped, made, error = table.coefficients, table.made_anew(), float(table.error())
    assert made in (shipped, None), f"{table.name} in the source is not what is made: {made}"
    assert error <= table.claim <= 2 * error, f"{table.name} has an error of {error:.2g}"
    least = float(table.least_error()) if table.way.closest else None
    assert least is None or least <= error, f"nothing is closer than the closest: {table.name}"
    equation = f"`{table.function}` | `{table.approximation}` | `{table.low}` | `{table.high}`"
    size = f"{len(shipped)} {table.dtype}"
    return (
        f"| `{table.name}` | {equation} | {table.way.name} | {size} "
        f"| {table.claim:g} | {error:.2g} | {'' if least is None else f'{least:.2g}'} |\n"
    )


def page() -> str:
    """The whole page."""
    return PAGE + "".join(map(row, TABLES))


if __name__ == "__main__":
    print(page(), end="")
