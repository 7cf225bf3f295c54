"""Public bug reports of array libraries, with the right answers: each is a claim about hloom.

A program is run eagerly with 64-bit types off and on, and inside `jit`.  `xp` is the library, `hl`
is hloom; its last line is an expression.  Answers are NumPy's, dtypes included; where NumPy is not
asked (transforms), or is the odd one, the reason stands beside.
"""

from __future__ import annotations

import ast
import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest
from ml_dtypes import bfloat16

import hloom
import hloom.numpy as jnp
from hloom import dtypes

GIVEN = {"np": np, "nan": np.nan, "inf": np.inf, "bfloat16": bfloat16, "hl": hloom}


class Report(NamedTuple):
    """One report: who was told, what holds, a program that shows it, and its value."""

    source: str
    claim: str
    program: str
    answer: str  # an expression, or the exception that is raised
    narrow: str = ""  # the answer with 64-bit types off, where it is another
    needs: str = ""  # a function that is not there yet: the row waits for it
    traced: bool = True  # whether the program makes sense inside jit


REPORTS = [
    # ---- searching, counting, statistics
    Report("jax-ml/jax#9182", "NaNs are one value to unique",
           "xp.unique(xp.array([0.0, 1.0, nan, nan]))", "np.array([0.0, 1.0, nan])"),
    Report("jax-ml/jax#20256", "without bins everything is in bin 0",
           "xp.digitize(xp.arange(4), xp.array([], dtype='float32'))", "np.zeros(4, int)"),
    Report("jax-ml/jax#5719", "bincount of nothing is nothing, of integers",
           "xp.bincount(xp.array([], dtype='int32'))", "np.zeros(0, int)"),
    Report("jax-ml/jax#2446", "between equal infinities lies an infinity",
           "xp.median(xp.array([inf, inf, inf]))", "np.float64(inf)"),
    Report("jax-ml/jax#7894", "nanpercentile ignores NaNs that nanmean left",
           "m = xp.nanmean(xp.array([[5.5, 6.25, 5.5, 7.25, nan]] * 2), axis=0, keepdims=True)\n"
           "xp.nanpercentile(m, 10, axis=1)", "np.array([5.5])"),
    Report("numpy/numpy#10373", "percentiles of equal values are that value",
           "x = xp.full(279, 0.5675805163876734)\nxp.percentile(x, 45) == x[0]", "np.bool_(True)"),
    Report("jax-ml/jax#4640", "argmax finds the first NaN",
           "xp.argmax(xp.array([0.0, 1.0, nan]))", "np.int64(2)"),
    Report("jax-ml/jax#2899", "nothing has no maximum", "xp.argmax(xp.array([]))", "ValueError"),
    Report("ml-explore/mlx#1302", "nearly equal values have no NaN for a deviation",
           "x = xp.array([-0.8212978, -0.8214609], dtype='float32')\n"
           "abs(xp.std(x) - 8.155e-05) < 1e-7", "np.bool_(True)"),
    # NumPy's NaN depends on the order it sums in; an infinity is as right.
    Report("jax-ml/jax#37993", "a variance that overflows is infinite",
           "m = 3.4028235e38\n"
           "xp.std(xp.array([-m, -m, m, 1, 1, 1, 1, 1, 1, 1, m, 1, 1, 1, 1, 1], dtype='float32'))",
           "np.float32(inf)"),
    Report("chainer/chainer#7681", "the mean of large halves does not overflow",
           "xp.mean(xp.full((300,), 500, dtype='float16'))", "np.float16(500)"),
    Report("apache/mxnet#16357", "mean, product and sum of nothing",
           "x = xp.zeros((2, 0, 0))\n(xp.mean(x), xp.prod(x), xp.sum(x))",
           "(np.float64(nan), np.float64(1), np.float64(0))"),
    Report("jax-ml/jax#40020", "the histogram of nothing has zero counts between 0 and 1",
           "h = xp.histogram(xp.array([]), bins=3)\n(h[0].astype(float), h[1])",
           "(np.zeros(3), np.linspace(0, 1, 4))"),
    Report("jax-ml/jax#28646", "cumsum of bools is a running or",
           "xp.cumsum(xp.array([-1, 0, 1]), dtype=bool)", "np.array([True, True, True])"),
    Report("jax-ml/jax#37920", "running sums and products widen to the default integer",
           "x = xp.array([10000, 10000, 10000], dtype='int32')\n"
           "(xp.cumprod(x), xp.cumsum(x).dtype.name)",
           "(np.array([10**4, 10**8, 10**12]), 'int64')",
           narrow="(np.array([10**4, 10**8, -727379968]), 'int32')"),
    # ---- division, powers, shifts
    Report("jax-ml/jax#40028", "a zero remainder has the divisor's sign",
           "1 / xp.remainder(xp.array([-1.0, -4.0, 0.0, 4.0]), xp.array([1.0, 2.0, -3.0, -2.0]))",
           "np.array([inf, inf, -inf, -inf])"),
    Report("jax-ml/jax#40170", "a zero quotient keeps its sign",
           "1 / xp.floor_divide(xp.array([-0.0, 0.0]), xp.array([3.0, 3.0]))",
           "np.array([-inf, inf])"),
    Report("jax-ml/jax#11990", "an integer by zero is zero",
           "xp.floor_divide(xp.array([2, -2]), xp.array([0, 0]))", "np.array([0, 0])"),
    Report("pytorch/pytorch#42896", "exact quotients lose nothing",
           "(2401 // xp.array(49), 2401.0 // xp.array(49.0))", "(np.int64(49), np.float64(49))"),
    Report("cupy/cupy#9111", "x modulo inf is x, where the signs agree",
           "xp.mod(xp.array([1.0, -1.0]), xp.array(inf))", "np.array([1.0, inf])"),
    Report("jax-ml/jax#3952", "unsigned numbers shift in zeros",
           "xp.right_shift(xp.array(128, dtype='uint8'), xp.array(2, dtype='uint8'))",
           "np.uint8(32)"),
    Report("jax-ml/jax#10692", "powers of int8 wrap, in arrays and alone",
           "(xp.power(xp.array([2], dtype='int8'), xp.array([64], dtype='int8')),"
           " xp.power(xp.array(2, dtype='int8'), xp.array(64, dtype='int8')))",
           "(np.array([0], 'int8'), np.int8(0))"),
    Report("jax-ml/jax#16898", "integers have no negative powers",
           "10 ** (xp.arange(0, 2) - 1)", "ValueError", traced=False),
    Report("jax-ml/jax#8604", "powers of integers need 64 bits, when there are 64",
           "(1 / 256 ** xp.arange(1, 5)).astype('float32')",
           "np.array([2.0**-8, 2.0**-16, 2.0**-24, 2.0**-32], 'float32')",
           narrow="np.array([2.0**-8, 2.0**-16, 2.0**-24, inf], 'float32')"),
    Report("jax-ml/jax#17995", "derivatives of integer powers",
           "hl.grad(lambda z: xp.sum(z ** xp.arange(0, 2)))(1.0)", "np.float64(1)"),
    # ---- dtypes
    Report("jax-ml/jax#15505", "a Python integer that fits uint32 can be stored",
           "xp.zeros(1, dtype='uint32').at[0].set(2**32 - 1)", "np.array([2**32 - 1], 'uint32')"),
    # Out of range NumPy gives what the processor leaves; hloom the nearest value.
    Report("jax-ml/jax#10005", "floats out of an integer's range become its limits",
           "xp.array([-255.0, -1.0, 256.0, 257.0], dtype='float32').astype('uint8')",
           "np.array([0, 0, 255, 255], 'uint8')"),
    Report("jax-ml/jax#4187", "uint32 beside int8 is wider than both",
           "xp.array(2**32 - 1, dtype='uint32') + xp.array(1, dtype='int8')", "np.int64(2**32)",
           narrow="np.int32(0)"),
    Report("jax-ml/jax#20929", "uint64 beside int64 is a float",
           "xp.outer(xp.ones(2, dtype='uint64'), xp.ones(2, dtype='int64')).dtype.name",
           "'float64'",
           narrow="'int32'"),  # uint32 beside int32
    # NumPy does not know bfloat16, and gives float32.
    Report("jax-ml/jax#11014", "bfloat16 beside a Python float stays bfloat16",
           "(xp.ones((2,), dtype=bfloat16) + float('nan')).dtype.name", "'bfloat16'"),
    Report("jax-ml/jax#4053", "ldexp of integers is a float", "xp.ldexp(1, 1)", "np.float64(2)"),
    Report("jax-ml/jax#11467", "ldexp has a derivative",
           "hl.grad(lambda x: xp.ldexp(x, xp.int32(1)))(1.0)", "np.float64(2)"),
    Report("jax-ml/jax#19689", "frexp of the smallest half",
           "xp.frexp(xp.array(np.finfo(np.float16).smallest_subnormal))",
           "(np.float16(0.5), np.int32(-23))"),
    Report("jax-ml/jax#20829", "integers are rounded to tens, half to even",
           "xp.round(xp.array([15, 25, 35]), -1)", "np.array([20, 20, 40])"),
    # ---- making arrays
    Report("jax-ml/jax#145", "ten steps of 0.1 from 0 to 1", "xp.arange(0.0, 1.0, 0.1).shape",
           "(10,)"),
    Report("jax-ml/jax#10984", "arange counts in double precision",
           "xp.arange(1.2, 4.8, 0.24).shape", "(15,)"),
    Report("jax-ml/jax#7843", "linspace of integers rounds down",
           "xp.linspace(-1.5, 1.5, 4, dtype='int32')", "np.array([-2, -1, 0, 1], 'int32')"),
    Report("jax-ml/jax#3919", "zero repeats give an empty axis",
           "xp.tile(xp.array([0, 1, 2]), (1, 0, 2)).shape", "(1, 0, 6)"),
    Report("jax-ml/jax#26888", "later axes fill the corners",
           "xp.pad(xp.arange(1, 5).reshape(2, 2), 1, constant_values=(1, 2))",
           "np.array([[1, 1, 1, 2], [1, 1, 2, 2], [1, 3, 4, 2], [1, 2, 2, 2]])"),
    Report("cupy/cupy#7196", "numbers are broadcast too",
           "[a.shape for a in xp.broadcast_arrays(0.1, xp.array([0.0, 10.0, 20.0]))]",
           "[(3,), (3,)]"),
    Report("jax-ml/jax#3412", "a copy survives the donation of its original",
           "x = xp.asarray([0, 1])\ny = xp.array(x, copy=True)\n"
           "z = hl.jit(lambda a: a.at[0].set(77), donate_argnums=0)(x)\n(y, z)",
           "(np.array([0, 1]), np.array([77, 1]))", traced=False),
    # ---- indexing
    Report("jax-ml/jax#1858", "nothing of nothing",
           "xp.zeros(0)[xp.array([], dtype='int32')].shape", "(0,)"),
    Report("jax-ml/jax#8412", "a mask after an ellipsis",
           "xp.ones((4, 3, 2))[..., np.array([True, False])].shape", "(4, 3, 1)"),
    Report("jax-ml/jax#7329", "a mask of the wrong length",
           "xp.arange(4)[xp.array([True, False])]", "IndexError"),
    Report("jax-ml/jax#7918", "True adds an axis of one, False of none",
           "x = xp.arange(4)\n(x[True].shape, x[False].shape, x[:, True].shape)",
           "((1, 4), (0, 4), (4, 1))"),
    Report("jax-ml/jax#18132",
           "an integer and an array with slices between: their axis comes first",
           "xp.ones((1, 2, 4, 3, 1, 1))[:, np.array([0, 1]), :, :, 0, 0:1].shape",
           "(2, 1, 4, 3, 1)"),
    Report("dask/dask#11959", "an integer beside an array drops its axis",
           "xp.zeros((5, 2), dtype='float32')[0, np.array([0, 1])].shape", "(2,)"),
    Report("jax-ml/jax#4383", "a known index out of bounds",
           "xp.arange(20).reshape(10, 2)[10, :]", "IndexError"),
    Report("jax-ml/jax#14193", "take past the end", "xp.take(xp.arange(5), 10)", "IndexError"),
    Report("jax-ml/jax#28998", "out of bounds means fill, where fill was asked for",
           "[xp.ones(4).at[i].get(mode='fill', fill_value=-10.0) for i in (-5, -4, 3, 4)]",
           "[np.float64(-10), np.float64(1), np.float64(1), np.float64(-10)]"),
    Report("jax-ml/jax#29434", "without wrapping, -1 is out of bounds",
           "xp.arange(4.0).at[xp.array(-1)].get("
           "mode='fill', fill_value=99.0, wrap_negative_indices=False)", "np.float64(99)"),
    # ---- clip, complex numbers, accuracy
    Report("jax-ml/jax#1072", "clip leaves NaN", "xp.clip(xp.array([nan, 5.0]), -1, 1)",
           "np.array([nan, 1.0])"),
    Report("jax-ml/jax#1650", "the bounds of clip broadcast",
           "xp.clip(xp.ones((3, 1)), xp.array([0.0, 2.0]), xp.array([3.0, 3.0])).shape", "(3, 2)"),
    # NumPy has lost half of its digits here.
    Report("jax-ml/jax#7004", "complex log1p is accurate near 0",
           "xp.log1p(xp.array(1e-5 + 0j, dtype='complex64'))", "np.complex64(9.99995e-06)"),
    Report("jax-ml/jax#17172", "tan saturates, arccos keeps its real part",
           "(xp.tan(xp.array(-1 - 45j, dtype='complex64')),"
           " xp.arccos(xp.array(-1 - 4500j, dtype='complex64')))",
           "(np.complex64(-1j), np.complex64(1.5710186 + 9.1049795j))"),
    Report("jax-ml/jax#23587", "the sign of zero picks the side of a branch cut",
           "xp.arctan(xp.array([complex(0.0, -2.0), complex(-0.0, -2.0)]))",
           "np.array([np.pi / 2 - 0.549306144334055j, -np.pi / 2 - 0.549306144334055j])"),
    Report("jax-ml/jax#39707", "log1p of doubles is accurate near -0.414",
           "xp.log1p(xp.array(-0.4141892))", "np.float64(-0.5347584084320597)"),
    Report("jax-ml/jax#39352", "arctan of many elements",
           "x = np.linspace(-3, 3, 200).astype('float32')\n"
           "xp.max(xp.abs(xp.arctan(x) - np.arctan(x))) < 1e-6", "np.bool_(True)"),
    Report("jax-ml/jax#26555", "the norm of an empty matrix",
           "xp.linalg.norm(xp.zeros((2, 0)), ord=1)", "np.float64(0)"),
    Report("jax-ml/jax#37", "repeated and dropped labels of einsum",
           "a = xp.arange(9.0).reshape(3, 3)\n"
           "(xp.einsum('ii->i', a), xp.einsum('ii', a), xp.einsum('ij->', a),"
           " xp.einsum('sa,shb->shab', xp.ones((2, 1)), xp.ones((2, 3, 4))).shape)",
           "(np.array([0.0, 4.0, 8.0]), np.float64(12), np.float64(36), (2, 3, 1, 4))"),
    # ---- transforms
    Report("jax-ml/jax#38681", "the angle of False is 0, compiled or not",
           "t = xp.array([1, 2, 3, 4])\nhl.jit(lambda t: xp.angle(xp.logical_xor(t, t)))(t)",
           "np.zeros(4)"),
    Report("openxla/xla#44705", "atan2 of zeros that the compiler finds out",
           "def f(a):\n"
           "    b, c = hl.lax.ne(a, 0), hl.lax.ne(a, 0)\n"
           "    e = hl.lax.convert_element_type(hl.lax.bitwise_xor(b, c), 'float32')\n"
           "    return hl.lax.atan2(e, e)\n"
           "hl.jit(f)(xp.arange(5))", "np.zeros(5, 'float32')"),
    # 1 in mathematics.  The derivative that was not chosen is infinite, and is multiplied by 0:
    # `where` says so in its help, with the way out, which the third row takes.
    Report("jax-ml/jax#5798", "an infinite derivative is not hidden by where",
           "hl.grad(lambda x: xp.where(x < 1.0, x, xp.sqrt(x)))(0.0)", "np.float64(nan)"),
    Report("jax-ml/jax#2630", "nor an infinite factor",
           "hl.grad(lambda x: xp.where(x > 0, 0.0, x * inf))(1.0)", "np.float64(nan)"),
    Report("jax-ml/jax#5798", "but a harmless operand has none",
           "hl.grad(lambda x: xp.where(x < 1.0, x, xp.sqrt(xp.where(x < 1.0, 1.0, x))))(0.0)",
           "np.float64(1)"),
    Report("jax-ml/jax#18548", "in_axes of a dict",
           "hl.vmap(lambda x: x['a'].sum(), in_axes=({'a': 0},))({'a': xp.ones((3, 3))})",
           "np.full(3, 3.0)"),
    # ---- waiting for functions of later issues
    Report("ml-explore/mlx#4044", "a running maximum keeps NaN",
           "xp.maximum.accumulate(xp.array([1.0, 3.0, nan, 5.0, 4.0]))",
           "np.array([1.0, 3.0, nan, nan, nan])", needs="maximum.accumulate"),
    Report("jax-ml/jax#13054", "outer products of ufuncs",
           "xp.multiply.outer(xp.array([3, 4, 2]), xp.array([5, 2]))",
           "np.array([[15, 6], [20, 8], [10, 4]])", needs="multiply.outer"),
    Report("jax-ml/jax#1213", "the sign of a negative 1x1 determinant",
           "xp.linalg.slogdet(xp.array([[[-0.01]], [[-0.01]]]))[0]", "np.array([-1.0, -1.0])",
           needs="linalg.slogdet"),
    Report("jax-ml/jax#28618", "a tolerance above the largest singular value gives rank 0",
           "xp.linalg.matrix_rank(xp.array([[1.0, 1.0], [1.0, 1.0]]), rtol=2.0)", "np.int64(0)",
           needs="linalg.matrix_rank"),
    Report("jax-ml/jax#37765", "a subnormal eigenvalue is not zero",
           "xp.linalg.eigvalsh(xp.diag(xp.array([1.0, 0.01, 1e-40], dtype='float32')))",
           "np.array([1e-40, 0.01, 1.0], 'float32')", needs="linalg.eigvalsh"),
    Report("jax-ml/jax#31618", "no points have no spectrum", "xp.fft.fft(xp.ones(4), n=0)",
           "ValueError", needs="fft.fft"),
]  # fmt: skip


def run(program: str) -> Any:
    """The value of a program's last line."""
    module = ast.parse(program)
    last = module.body.pop()
    assert isinstance(last, ast.Expr)
    names: dict[str, Any] = {"xp": jnp, **GIVEN}
    exec(compile(module, "<report>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<report>", "eval"), names)


def inside_jit(program: str) -> Any:
    """The same, traced: what is no array (a shape, a name) is known without running anything."""
    parts: list[Any] = []

    def traced() -> list[Any]:
        parts.extend(leaves(run(program)))
        return [x for x in parts if isinstance(x, hloom.Array)]

    arrays = iter(hloom.jit(traced)())
    return [next(arrays) if isinstance(x, hloom.Array) else x for x in parts]


def leaves(result: Any) -> list[Any]:
    """The arrays, numbers and names in nested lists and tuples."""
    if isinstance(result, (list, tuple)):
        return [x for part in result for x in leaves(part)]
    return [result]


def agree(result: Any, answer: Any, x64: bool) -> None:
    """The same shapes, dtypes and values."""
    found, wanted = leaves(result), leaves(answer)
    assert len(found) == len(wanted)
    for x, want in zip(found, wanted):
        if isinstance(want, (np.ndarray, np.generic)):
            assert x.dtype == dtypes.canonicalize(want.dtype, x64)
            np.testing.assert_allclose(x, want, rtol=1e-13 if x64 else 2e-5, strict=False)
            assert x.shape == want.shape
        else:
            assert x == want


def there(name: str) -> bool:
    """Whether hloom.numpy has a function, `linalg.det` or `maximum.accumulate`."""
    value: Any = jnp
    for part in name.split("."):
        value = getattr(value, part, None)
    return value is not None


def label(report: Report) -> str:
    return f"{report.source}: {report.claim}"


@pytest.mark.parametrize("mode", ["32 bits", "64 bits", "traced"])
@pytest.mark.parametrize("report", REPORTS, ids=label)
def test_the_right_answer(report: Report, mode: str) -> None:
    if report.needs and not there(report.needs):
        pytest.skip(f"hloom.numpy.{report.needs} is not there yet")
    if mode == "traced" and not report.traced:
        pytest.skip("not a program for jit")
    x64 = mode == "64 bits"
    answer = report.answer if x64 else report.narrow or report.answer
    compute = inside_jit if mode == "traced" else run
    with hloom.enable_x64(x64), warnings.catch_warnings():
        warnings.simplefilter("ignore", hloom.errors.TruncationWarning)
        if answer.endswith("Error"):
            with pytest.raises(eval(answer)):
                compute(report.program)
            return
        try:
            result = compute(report.program)
        except hloom.errors.ConcretizationTypeError:
            assert mode == "traced"  # a shape that depends on values: jit has to refuse
            return
        agree(result, eval(answer, dict(GIVEN)), x64)


# ---- reports whose answer is what an error says --------------------------------------------------
def test_short_in_axes_count_the_arguments() -> None:  # jax-ml/jax#9928
    with pytest.raises(ValueError, match=r"in_axes has 2 entries for 3 positional arguments"):
        hloom.vmap(lambda a, b, c: a + b + c, in_axes=(0, 0))(jnp.ones(3), jnp.ones(3), 1.0)


def test_a_bare_dict_of_in_axes_names_the_tuple_around_it() -> None:  # jax-ml/jax#18548
    with pytest.raises((TypeError, ValueError), match=r"\(\{'a': 0\},\)"):
        hloom.vmap(lambda x: x["a"].sum(), in_axes={"a": 0})({"a": jnp.ones((3, 3))})


# google-research/long-range-arena#7
def test_a_list_as_static_argument_names_it_and_the_tuple() -> None:
    with pytest.raises(ValueError, match=r"(?s)`shape`.*list.*tuple"):
        hloom.jit(lambda x, shape: jnp.reshape(x, shape), static_argnums=1)(jnp.arange(4), [2, 2])


def test_an_array_donated_and_given_again_names_both() -> None:  # jax-ml/jax#9635
    x = jnp.zeros(10)
    with pytest.raises(ValueError, match="`a` and `b` are the same array"):
        hloom.jit(lambda a, b: a + b, donate_argnums=0)(x, x)


def test_where_tells_of_derivatives_that_were_not_chosen() -> None:  # jax-ml/jax#5798
    assert "where(x > 0, sqrt(where(x > 0, x, 1)), 0)" in jnp.where.__doc__
