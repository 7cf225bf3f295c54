"""Coefficients in the source: where each table comes from, and how exact it is (`docs/fits`)."""

from __future__ import annotations

import ast
import doctest
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from docs.fits import fitting
from docs.fits.__main__ import page
from docs.fits.tables import MODULES, TABLES
from hloom.ops.elementary import real_f32, real_f64, special_functions

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "hloom"


# ---- fitting -----------------------------------------------------------------------------------
def test_the_examples_of_fitting() -> None:
    assert doctest.testmod(fitting) == (0, 3)


def test_the_closest_polynomial_to_a_power_is_less_a_chebyshev_polynomial() -> None:
    for power in (2, 3, 6):
        fit = fitting.minimax(partial(pow, exp=power), (-1, 1), power - 1)
        assert abs(fit.error * 2 ** (power - 1) - 1) < 2e-3


def test_the_closest_line_to_exp_is_parallel_to_its_chord() -> None:
    fit = fitting.minimax(mp.exp, (-1, 1), 1)
    slope = mp.sinh(1)
    start = (mp.exp(1) - slope * mp.log(slope)) / 2
    assert max(abs(fit.numerator[1] - slope), abs(fit.numerator[0] - start)) < 2e-3
    assert abs(fit.error - (mp.exp(1) - slope - start)) < 1e-3


@pytest.mark.parametrize("denominator", [0, 1, 2])
def test_the_weighted_error_of_the_closest_quotient_has_all_its_extrema(denominator: int) -> None:
    weight, points = (lambda t: mp.exp(-t)), fitting.nodes((-1, 1), 400)
    fit = fitting.minimax(mp.exp, (-1, 1), 2, weight, denominator)
    errors = [
        weight(t) * (mp.exp(t) - fitting.polynomial(fit.numerator, t)
                     / fitting.polynomial(fit.denominator, t))
        for t in points
    ]  # fmt: skip
    signs = [error > 0 for error in errors if abs(error) > 0.99 * fit.error]
    assert 1 + sum(a != b for a, b in zip(signs, signs[1:])) == 4 + denominator


def test_no_polynomial_is_closer_where_the_weight_changes_its_sign() -> None:
    def error(polynomial: list[Any]) -> Any:
        points = fitting.nodes((-1, 1), 400)
        return max(abs(t * (mp.exp(t) - fitting.polynomial(polynomial, t))) for t in points)

    closest = fitting.minimax(mp.exp, (-1, 1), 4, lambda t: t)
    assert abs(error(closest.numerator) / closest.error - 1) < 2e-3
    others = [closest.numerator[:k] + [c * (1 + s)] + closest.numerator[k + 1 :]
              for k, c in enumerate(closest.numerator) for s in (-1e-4, 1e-4)]  # fmt: skip
    others.append(fitting.interpolation(mp.exp, (-1, 1), 5))
    assert closest.error < min(map(error, others))


def test_interpolation_and_series_give_a_polynomial_back() -> None:
    coefficients = [mpf(3), mpf(-1), mpf(0), mpf("0.5")]
    for make in (fitting.interpolation, fitting.series):
        made = make(lambda t: fitting.polynomial(coefficients, t), (-1, 3), 4)
        assert max(abs(a - b) for a, b in zip(made, coefficients, strict=True)) < 1e-60


def test_a_series_is_the_same_in_powers_and_as_it_is() -> None:
    powers = fitting.series(mp.exp, (-1, 1), 6)
    terms = fitting.expansion(mp.exp, (-1, 1), 6)
    for t in (mpf("-0.9"), mpf("0.3")):
        assert abs(fitting.polynomial(powers, t) - fitting.chebyshev(terms, t)) < 1e-60


# ---- tables ------------------------------------------------------------------------------------
def test_every_table_is_made_anew_to_the_last_bit() -> None:
    for table in TABLES:
        assert table.made_anew() in (table.coefficients, None), table.name


def test_the_source_says_of_every_table_what_its_row_claims() -> None:
    for table in TABLES:
        module, name = table.name.split(".")
        text = Path(str(MODULES[module].__file__)).read_text(encoding="utf-8")
        assert f"{table.claim:g}" in text[: text.index(f"\n{name} = ")], table.name


def test_constants_in_two_parts_have_the_digits_of_both() -> None:
    root = mp.findroot(mp.digamma, 1.46)
    for exact, (head, rest), bits in (
        (mp.pi / 2, real_f32.HALF_PI, 48),
        (mp.pi / 2, real_f64.HALF_PI, 106),
        (mp.ln(2), (real_f64.LN2_HIGH, real_f64.LN2_LOW), 85),
        (root, special_functions._DIGAMMA_ROOT, 106),
    ):
        assert abs(mpf(head) + mpf(rest) - exact) < mpf(2) ** -bits * exact


def test_no_integer_is_a_better_guess_for_cube_roots() -> None:
    d = np.linspace(1, 8, 100_001)
    third = ((d.view(np.int64) >> 32) * 0x55555556) >> 32
    off = ((real_f32.GUESS - third) << 32).view(np.float64) * np.cbrt(d) - 1
    assert abs(off.max() + off.min()) < 2e-6 < 0.034 < off.max() < 0.035


@pytest.mark.slow  # a minute
def test_the_page_is_current_and_no_table_is_worse_than_claimed() -> None:
    assert (ROOT / "docs" / "polynomials.md").read_text(encoding="utf-8") == page()


def test_no_coefficients_without_a_row() -> None:
    known = {table.name for table in TABLES}
    for path in sorted(SOURCE.rglob("*.py")):
        if path.is_relative_to(SOURCE / "testing"):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {id(node): name for name, node in _assigned(tree)}
        for node in ast.walk(tree):
            if sum(map(_is_coefficient, _numbers(node))) >= 3:
                name = f"{path.stem}.{names.get(id(node))}"
                assert name in known, (
                    f"{path}:{node.lineno} has coefficients that no row of docs/fits/tables.py "
                    f"makes.  Give them a name at the module's top level, and that a row."
                )


def _assigned(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """The names of a module, and their values as they are written."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value


def _numbers(node: ast.AST) -> list[ast.expr]:
    """The items of a tuple or list, the arguments of a call."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return node.elts
    return node.args if isinstance(node, ast.Call) else []


def _is_coefficient(node: ast.expr) -> bool:
    """Whether it is a number that is not whole, or a quotient of numbers."""
    match node:
        case ast.UnaryOp(operand=operand):
            return _is_coefficient(operand)
        case ast.BinOp(op=ast.Div(), left=left, right=ast.Constant()):
            return isinstance(left, (ast.Constant, ast.UnaryOp))
        case ast.Constant(value=float(value)):
            return not value.is_integer()
    return False
