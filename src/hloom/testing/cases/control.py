"""Control flow: what has jaxprs among its parameters."""

from __future__ import annotations

from functools import reduce as fold
from itertools import accumulate
from typing import Any

import numpy as np

import hloom.numpy as jnp
from hloom import dtypes
from hloom.control.associative import associative_scan
from hloom.control.composite import composite
from hloom.control.computations import reduce, reduce_window
from hloom.control.cond.branches import cond, switch
from hloom.control.jit.decorator import jit
from hloom.control.loops.public import fori_loop, scan, while_loop
from hloom.control.loops.public import map as each
from hloom.control.solve.linear_solve import custom_linear_solve
from hloom.control.solve.root import custom_root
from hloom.ops.pointwise import binary
from hloom.ops.pointwise.arithmetic import add, mul
from hloom.ops.pointwise.compare import ge, select
from hloom.ops.pointwise.exponential import exp, log
from hloom.ops.pointwise.trigonometric import cos, sin
from hloom.testing.case import Case
from hloom.testing.cases.pointwise import largest
from hloom.testing.cases.reductions import views
from hloom.testing.comparison import wider
from hloom.testing.operands import SINGLE
from hloom.transforms.derivatives import vmap

STEPS = "a few roundings for each step"
REAL = ("int32", *SINGLE)


def _branch(x: Any) -> Any:
    return {"a": mul(x, x), "b": (sin(x),)}


def _other(x: Any) -> Any:
    return {"a": -x, "b": (cos(x),)}


def _leaves(tree: Any) -> list[Any]:
    return [tree["a"], *tree["b"]]


def _newton(a: Any) -> Any:
    """The square root, by as many steps as it takes."""
    enough = 8 * float(dtypes.finfo(a.dtype).eps)
    going = lambda s: jnp.abs(s[0] - s[1]) > enough * s[0]
    return while_loop(going, lambda s: (0.5 * (s[0] + a / s[0]), s[0]), (a, a * 0.0))[0]


def _horner(c: Any, xs: Any) -> Any:
    """Carries and rows of a polynomial of `c`."""
    return scan(lambda c, x: (c * 0.5 + x, c * x), c, xs)


def _numpy_horner(c: Any, xs: Any) -> Any:
    rows = []
    for x in xs:
        rows.append(c * x)
        c = (c * np.asarray(0.5, xs.dtype) + x).astype(xs.dtype)
    return [c, np.stack(rows)]


def _numpy_fori_loop(x: Any) -> Any:
    return fold(lambda x, i: np.sin(x) + i * x, range(1, 4), wider(x))


def _numpy_sines(w: Any, c: Any, xs: Any) -> Any:
    *carries, last = accumulate(wider(xs), lambda c, x: np.sin(c * w) + x, initial=wider(c))
    return [last, np.stack(carries)]


CHOICES = [
    Case("cond", lambda p, x: _leaves(cond(p, _branch, _other, x)), (np.bool_(True), (3,)),
         lambda p, x: [x * x, np.sin(wider(x))], SINGLE, 2, "the sine"),
    Case("cond, else", lambda p, x: _leaves(cond(p, _branch, _other, x)), (np.bool_(False), (3,)),
         lambda p, x: [-x, np.cos(wider(x))], SINGLE, 2, "the cosine"),
    Case("cond by the operand", lambda x: cond(x > 0, lambda x: x * 2, lambda x: x * 3, x), ((),),
         lambda x: np.where(x > 0, x * 2, x * 3), REAL),
    Case("switch", lambda i, x: switch(i, [lambda x: x, lambda x: x * x, lambda x: -x], x),
         (np.int32(1), (2, 3)), lambda i, x: x * x, REAL),
    Case("switch beyond the last",
         lambda i, x: switch(i, [lambda x: x, lambda x: x * x, lambda x: -x], x),
         (np.int32(7), (3,)), lambda i, x: -x, REAL),
    Case("cond that closes over an operand",
         lambda p, x, y: cond(p, lambda x: x * y, lambda x: x, x), (np.bool_(True), (3,), (3,)),
         lambda p, x, y: x * y, REAL),
    Case("cond for each example",
         lambda x, y: vmap(lambda x: cond(x > 0, lambda: x * y, lambda: x))(x), ((5,), ()),
         lambda x, y: np.where(x > 0, x * y, x), REAL),
]  # fmt: skip

LOOPS = [
    Case("while_loop", _newton, ((),), np.sqrt, SINGLE, 3, STEPS, low=1, high=9, reverse=False),
    Case("while_loop of integers", lambda n: while_loop(
        lambda s: s[0] > 0, lambda s: (s[0] // 2, s[1] + 1), (n, n * 0))[1], ((),),
         lambda n: n.dtype.type(max(int(n), 0).bit_length()), ("int32", "uint8", "int64"), low=0,
         moving=()),
    Case("fori_loop", lambda x: fori_loop(1, 4, lambda i, x: sin(x) + i.astype(x.dtype) * x, x),
         ((3,),), _numpy_fori_loop, SINGLE, 9, STEPS),
    Case("fori_loop of a computed number", lambda n, x: fori_loop(0, n, lambda i, x: x * 2, x),
         (np.int32(3), (3,)), lambda n, x: x * 8, REAL, reverse=False),
    Case("fori_loop of no step", lambda x: fori_loop(4, 1, lambda i, x: x * x, x), ((3,),),
         lambda x: x, REAL),
    Case("scan", _horner, ((), (5,)), _numpy_horner, SINGLE, 9, STEPS),
    Case("scan of vectors", _horner, ((3,), (4, 3)), _numpy_horner, SINGLE, 9, STEPS),
    Case("scan, reversed", lambda c, xs: scan(
        lambda c, x: (c + x, c), c, xs, reverse=True), ((), (5,)),
         lambda c, xs: [c + xs.sum(dtype=xs.dtype), c + np.append(np.cumsum(xs[:0:-1])[::-1], 0)],
         REAL, 9, "sums"),
    Case("scan of a number", lambda c: scan(lambda c, _: (c * 2, c), c, None, length=3), ((2,),),
         lambda c: [c * 8, np.stack([c, c * 2, c * 4])], REAL),
    Case("scan over nothing", _horner, ((3,), (0, 3)), lambda c, xs: [c, xs], SINGLE),
    Case("scan of a format without zero", lambda c, xs: scan(lambda c, x: (c, x), c, xs),
         ((), (4,)), lambda c, xs: [c, xs], ("float8_e8m0fnu",), low=1),
    Case("scan that closes over an operand",
         lambda w, c, xs: scan(lambda c, x: (sin(c * w) + x, c), c, xs), ((), (), (4,)),
         _numpy_sines, SINGLE, 9, STEPS, low=-2, high=2),
    Case("map", lambda xs: each(lambda x: x.sum() * x, xs), ((4, 3),),
         lambda xs: wider(xs).sum(1, keepdims=True) * xs, SINGLE, 9, "sums"),
    Case("associative_scan", lambda xs: associative_scan(add, xs), ((7, 2),),
         lambda xs: np.cumsum(xs, 0, dtype=xs.dtype), REAL, 9, "sums in any order"),
]  # fmt: skip

JIT = [
    Case("jit", jit(lambda x: sin(x) * x), ((3,),), lambda x: np.sin(wider(x)) * x, SINGLE, 3,
         "the sine"),
    Case("jit in jit", jit(lambda x, y: jit(mul)(x, y) + jit(mul)(y, y)), ((3,), (3,)),
         lambda x, y: wider(x) * y + y * y, REAL, 2, "one product may be fused with the sum",
         low=1),
    Case("jit of several results", jit(lambda x, y: (y, x, x + y)), ((2,), ()),
         lambda x, y: (y, x, x + y), REAL),
]  # fmt: skip


def _divided(matvec: Any, b: Any) -> Any:
    """The solution of a system of a diagonal matrix."""
    return b / matvec(jnp.ones_like(b))


def _cubic_root(a: Any) -> Any:
    """The x of `x**3 + x = a`, by Newton's steps."""
    newton = lambda f, x: fori_loop(0, 40, lambda _, x: x - f(x) / (3 * x * x + 1), x)
    return custom_root(lambda x: x * x * x + x - a, a * 0, newton, _divided)


def _numpy_cubic_root(a: Any) -> Any:
    """Cardano's, by hyperbolic functions."""
    return 2 / 3**0.5 * np.sinh(np.arcsinh(1.5 * 3**0.5 * wider(a)) / 3)


SOLUTIONS = [
    Case("custom_linear_solve", lambda a, b: custom_linear_solve(
        lambda x: a * a * x + x, b, _divided, _divided), ((3,), (3,)),
         lambda a, b: b / (wider(a) ** 2 + 1), SINGLE, 3, "a quotient"),
    Case("custom_linear_solve of a symmetric system", lambda a, b: custom_linear_solve(
        lambda x: a * x, b, _divided, symmetric=True), ((), (2, 2)), lambda a, b: b / wider(a),
         SINGLE, 2, "a quotient", low=1),
    Case("custom_root", _cubic_root, ((3,),), _numpy_cubic_root, SINGLE, 4,
         "Newton's steps", low=-20, high=20),
]  # fmt: skip

COMPOSITE = [
    Case("composite", composite(lambda x: [sin(x), x * x], "testing.sine_and_square"), ((3,),),
         lambda x: [np.sin(wider(x)), x * x], SINGLE, 2, "the sine", moving=()),
]  # fmt: skip


# ---- reductions by a function ----------------------------------------------------------------
def _sum_of_logs(x: Any, y: Any) -> Any:
    """Associative, and no operation of lax: log(exp(x) + exp(y))."""
    return log(add(exp(x), exp(y)))


def _better(x: Any, y: Any) -> Any:
    """The pair with the larger first part."""
    left = ge(x[0], y[0])
    return select(left, x[0], y[0]), select(left, x[1], y[1])


def _first(x: Any, y: Any) -> Any:
    return add(add(x, y), mul(x, y))


def _numpy_better(x: Any, y: Any) -> Any:
    left = x[0] >= y[0]
    return np.where(left, x[0], y[0]), np.where(left, x[1], y[1])


def _best(x: Any, y: Any) -> Any:
    """The pair with the largest first part along the last axis."""
    start = tuple(np.full(x.shape[:-1], v, x.dtype) for v in (-1e9, 0.0))
    return fold(_numpy_better, zip(np.moveaxis(x, -1, 0), np.moveaxis(y, -1, 0)), start)


def _log_of_sum(x: Any, axes: Any, start: Any) -> Any:
    return np.log(np.exp(wider(x)).sum(axes) + np.exp(wider(start)))


COMPUTATIONS = [
    Case("by a function", lambda x, i: reduce(x, i, _sum_of_logs, (0, 2)), ((3, 4, 5), ()),
         lambda x, i: _log_of_sum(x, (0, 2), i), SINGLE, 40, "exp and log", low=-2, high=2),
    Case("over nothing", lambda x, i: reduce(x, i, _sum_of_logs, (1,)), ((3, 0), ()),
         lambda x, i: np.full(3, i), SINGLE),
    Case("over no axes", lambda x, i: reduce(x, i, _first, ()), ((3,), ()),
         lambda x, i: wider(x) + i + wider(x) * i, SINGLE, 4, "sums"),
    Case("of pairs", lambda x, y: reduce((x, y), (-1e9, 0.0), _better, (1,)), ((3, 7), (3, 7)),
         _best, SINGLE),
    Case("sum and start", lambda x, i: reduce(x, i, add, (1,)), ((3, 4), ()),
         lambda x, i: x.sum(1) + i, ("int32", *SINGLE), 9, "a sum"),
    Case("max and start", lambda x, i: reduce(x, i, binary.max, (0,)), ((3, 4), ()),
         lambda x, i: largest(largest(x[0], x[1]), largest(x[2], i)), ("int32", *SINGLE)),
    Case("windows by a function", lambda x: reduce_window(
        x, -1e9, _sum_of_logs, (2, 3), (2, 1), "VALID", None, (1, 2)), ((5, 6),),
         lambda x: _log_of_sum(
             views(x, -1e9, (2, 3), (2, 1), "VALID", None, (1, 2)), (2, 3), x.dtype.type(-1e9)),
         SINGLE, 40, "exp and log", low=-2, high=2),
    Case("product of windows", lambda x: reduce_window(x, 1.0, mul, (3,), (2,)), ((8,),),
         lambda x: views(wider(x), 1, (3,), (2,)).prod(1), SINGLE, 9, "products"),
    Case("sum of windows", lambda x: reduce_window(x, 0, add, (3,), None, "SAME"), ((8,),),
         lambda x: views(wider(x), 0, (3,), None, "SAME").sum(1, dtype=wider(x).dtype),
         ("int32", *SINGLE), 9, "sums"),
    Case("sum of windows with a start", lambda x: reduce_window(x, 5, add, (3,)), ((8,),),
         lambda x: 5 + x[:-2] + x[1:-1] + x[2:], ("int32", *SINGLE), 9, "sums"),
    Case("windows of pairs", lambda x, y: reduce_window((x, y), (-1e9, 0.0), _better, (2,), (2,)),
         ((8,), (8,)), lambda x, y: _best(*[views(z, 0, (2,), (2,)) for z in (x, y)]), SINGLE),
]  # fmt: skip
