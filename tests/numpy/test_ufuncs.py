"""NumPy's ufuncs, given arrays: operators with NumPy's values on the left, `out=`, and the rest.

What is expected is a rule each time: an operator is hloom's function of both operands, anything
else is NumPy's own answer for the values.
"""

from __future__ import annotations

import itertools
import operator
import warnings

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom.errors import ImmutableArrayError, MaskedArrayError, TracerArrayConversionError

F32, I32 = jnp.array([1.0, 2.0, 3.0]), jnp.array([3, 1, 2])

# Operator, hloom's function, and what it takes.
OPERATORS = [
    (operator.add, jnp.add, "biuf"), (operator.sub, jnp.subtract, "iuf"),
    (operator.mul, jnp.multiply, "biuf"), (operator.truediv, jnp.divide, "biuf"),
    (operator.floordiv, jnp.floor_divide, "iuf"), (operator.mod, jnp.remainder, "iuf"),
    (divmod, jnp.divmod, "iuf"), (operator.pow, jnp.power, "iuf"),
    (operator.matmul, jnp.matmul, "biuf"), (operator.and_, jnp.bitwise_and, "biu"),
    (operator.or_, jnp.bitwise_or, "biu"), (operator.xor, jnp.bitwise_xor, "biu"),
    (operator.lshift, jnp.left_shift, "iu"), (operator.rshift, jnp.right_shift, "iu"),
    (operator.eq, jnp.equal, "biuf"), (operator.ne, jnp.not_equal, "biuf"),
    (operator.lt, jnp.less, "biuf"), (operator.le, jnp.less_equal, "biuf"),
    (operator.gt, jnp.greater, "biuf"), (operator.ge, jnp.greater_equal, "biuf"),
]  # fmt: skip
DTYPES = "bool int8 uint8 int32 int64 float16 float32 float64".split()


class Plain(np.ndarray):
    """A subclass with nothing of its own."""


def lefts():
    """NumPy's values that may stand on the left of an array."""
    for name in DTYPES:
        yield np.array([1, 0, 1], name)
        yield np.array(1, name)
        yield np.dtype(name).type(1)
    yield np.array([1, 2, 3], jnp.bfloat16)
    yield np.array([1.0, 2.0, 3.0]).view(Plain)
    yield np.ones((2, 3))


def kind(x):
    return "f" if x.dtype.kind == "V" else x.dtype.kind  # bfloat16 is a float


def same(got, want):
    """Arrays of one type, weak or not, with the same elements."""
    for a, b in zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]:
        assert isinstance(a, hloom.Array), type(a)
        assert a.aval is b.aval, (a.aval, b.aval)
        if not isinstance(a, hloom.core.Tracer):
            np.testing.assert_array_equal(a, b)
    return got


def takes(symbol, kinds, left, right):
    """Whether hloom's function takes both; bfloat16 has no common type with some."""
    both = {kind(left), kind(right)}
    numbers = symbol is operator.matmul and 0 in (np.ndim(left), right.ndim)
    narrow = left.dtype.kind == "V" and right.dtype == "float16"
    return both <= set(kinds) and not numbers and not narrow


@pytest.mark.filterwarnings("ignore")  # of divisions by zero
def test_an_operator_is_hlooms_function_of_both():
    """On the numpy engine, since nothing of it depends on the engine: that one compiles nothing."""
    count = 0
    rights = (F32, I32, jnp.asarray(2.0), F32 > 1, I32.astype("float16"), list(F32)[1])
    with hloom.engine("numpy"):
        for symbol, function, kinds in OPERATORS:
            for left, right in itertools.product(lefts(), rights):
                if takes(symbol, kinds, left, right):
                    same(symbol(left, right), function(jnp.asarray(left), right))
                    count += 1
    assert count > 1500


@pytest.mark.filterwarnings("ignore")
def test_it_is_so_while_tracing():
    for symbol, function, kinds in OPERATORS:

        def program(x, symbol=symbol, function=function, kinds=kinds):
            for left in lefts():
                if takes(symbol, kinds, left, x):
                    same(symbol(left, x), function(jnp.asarray(left), x))
            return x

        for right in (F32, I32):
            hloom.make_jaxpr(program)(right)
            hloom.make_jaxpr(hloom.vmap(program))(right[None])


@pytest.mark.filterwarnings("ignore")
def test_it_is_so_with_64_bit_types():
    with hloom.enable_x64(), hloom.engine("numpy"):
        for symbol, function, _ in OPERATORS[:8] + OPERATORS[-6:]:
            for left in (np.ones(3), np.float64(2), np.arange(3), np.array(2)):
                for right in (F32, jnp.arange(3.0) + 1, I32):
                    same(symbol(left, right), function(jnp.asarray(left), right))


def test_derivatives_and_batches_pass_operators():
    left = np.array([2.0, 3.0, 4.0])
    assert hloom.grad(lambda x: (left * x).sum())(F32).tolist() == [2, 3, 4]
    assert hloom.vmap(lambda x: left - x)(jnp.ones((2, 3))).tolist() == [[1, 2, 3]] * 2
    assert hloom.grad(lambda x: np.float32(3) / x)(1.0) == -3
    # NumPy can't tell the function from the operator.
    assert hloom.grad(lambda x: np.multiply(left, x).sum())(F32).tolist() == [2, 3, 4]
    assert isinstance(np.add(left, F32), hloom.Array)


def test_operators_refuse_what_arrays_do_not_hold():
    for left in (
        np.array(["a", "b", "c"]), np.array([1, 2, 3], object), np.zeros(3, [("a", int)]),
        np.array(["2020-01-01"] * 3, "M8[D]"), np.array([b"a"] * 3),
    ):  # fmt: skip
        for symbol in (operator.add, operator.eq, operator.ne, operator.lt, operator.mod):
            with pytest.raises(TypeError):
                symbol(left, F32)


# ---- assignments --------------------------------------------------------------------------------
AUGMENTED = "a += x; a -= x; a *= x; a /= x; a //= x; a %= x; a **= x; a @= x".split("; ")


def test_an_augmented_assignment_is_the_operator_and_an_assignment():
    for statement in AUGMENTED:
        before = np.array([1.0, 2.0, 3.0])
        names = {"a": before, "x": F32}
        exec(statement, names)
        same(names["a"], eval(statement.replace("=", "", 1), {"a": jnp.asarray(before), "x": F32}))
        assert before.tolist() == [1, 2, 3]

        def program(x, statement=statement):
            names = {"a": np.array([1.0, 2.0, 3.0]), "x": x}
            exec(statement, names)
            return names["a"]

        np.testing.assert_allclose(hloom.jit(program)(F32), names["a"], rtol=1e-6)


def test_the_functions_of_the_operator_module_do_the_same():
    a = np.ones(3)
    same(operator.iadd(a, F32), 1 + F32)
    assert hloom.jit(lambda x: operator.imul(np.ones(3), x))(F32).tolist() == F32.tolist()


def test_out_of_numpy_is_written():
    for given in (lambda a: {"out": a}, lambda a: {"out": (a,)}):
        a = np.ones(3)
        assert np.add(a, F32, **given(a)) is a
        assert a.tolist() == [2, 3, 4]
    assert np.add(a, F32, a) is a
    assert a.tolist() == [3, 5, 7]
    with pytest.raises(TracerArrayConversionError, match=r"a = jnp\.add\(a, x\)"):
        hloom.jit(lambda x: np.add(a, x, out=a))(F32)


# ---- what is not written ------------------------------------------------------------------------
def test_an_array_is_not_written():
    a, z = np.array([1.0, 2.0, 3.0]), jnp.zeros(3)
    for call, way in [
        (lambda: np.add(a, 1, out=z), "z = jnp.add(a, 1)"),
        (lambda: np.add(a, 1, z), "z = jnp.add(a, 1)"),
        (lambda: np.abs(a, out=z), "z = jnp.abs(a)"),
        (lambda: np.exp(a, out=z, where=a > 1), "z = jnp.where(a > 1, jnp.exp(a), z)"),
        (lambda: np.frexp(a, z, F32), "z, F32 = jnp.frexp(a)"),
        (lambda: np.sum(a, out=z), "z = jnp.sum(a)"),
        (lambda: np.add.reduce(a, out=z), "z = jnp.sum(a, axis=0)"),
        (lambda: np.multiply.accumulate(a, 0, None, z), "z = jnp.cumprod(a, axis=0)"),
        (lambda: np.clip(a, 0, 1, out=z), "z = jnp.clip(a, 0, 1)"),
        (lambda: np.add(a, 1, out=z[:2]), "z = z.at[:2].set(jnp.add(a, 1))"),
        (lambda: np.add.at(z, [0, 1], a[:2]), "z = z.at[[0, 1]].add(a[:2])"),
        (lambda: np.hypot.at(z, 0, 2.0), "z = z.at[0].set(jnp.hypot(z[0], 2.0))"),
        (lambda: jnp.add(a, 1, out=z), "z = jnp.add(a, 1)"),
    ]:
        with pytest.raises(ImmutableArrayError) as caught:
            call()
        assert f"\n  {way}\n" in str(caught.value)
        assert "immutable" in str(caught.value)
        assert "test_ufuncs.py" in str(caught.value)
    with pytest.raises(TypeError, match="immutable"):  # as NumPy's, which speaks of ArrayType
        hloom.jit(lambda x: np.add(1.0, 2.0, out=x))(1.0)


def test_a_ufunc_that_hloom_has_not_is_called_without_out():
    triple = np.frompyfunc(lambda v: 3 * v, 1, 1)
    with pytest.raises(ImmutableArrayError, match=r"F32 = jnp\.asarray\(triple\(2\)\)"):
        triple(2, out=F32)


# ---- everything else ----------------------------------------------------------------------------
def test_all_else_is_numpys_answer_for_the_values():
    v, i = np.asarray(F32), np.asarray(I32)

    def at(values):
        a = np.zeros(3)
        np.add.at(a, [0, 0, 2], values)
        return a

    for function in [
        np.sin, np.frexp, np.isfinite, np.negative, np.add.reduce, np.multiply.accumulate,
        lambda x: np.add(x, x), lambda x: np.add(x, v), lambda x: np.add(1.5, x),
        lambda x: np.add([1, 2, 3], x), lambda x: np.hypot(v, x), lambda x: np.maximum(i, x),
        lambda x: np.add(v, x, dtype=float), lambda x: np.add(v, x, where=True),
        lambda x: np.add.outer(v, x), lambda x: np.add.reduceat(x, [0, 2]),
        lambda x: np.add.reduce(v, initial=x[0], where=x > 1), lambda x: np.exp(x[0]),
        lambda x: np.clip(v, x[0], x[1]), lambda x: np.exp(x, out=np.zeros(3)), at,
        lambda x: np.exp(v, where=x > 1, out=np.zeros(3)), lambda x: np.matmul(x, v),
        lambda x: np.frompyfunc(lambda u: u + 1, 1, 1)(x), lambda x: np.linalg.norm(x),
    ]:  # fmt: skip
        got, want = function(F32), function(v)
        for a, b in zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]:
            assert type(a) is type(b)
            assert np.asarray(a).dtype == np.asarray(b).dtype
            np.testing.assert_array_equal(a, b)


def test_masked_elements_are_refused_by_operators_too():
    m = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
    for symbol in (operator.add, operator.mul, operator.truediv, operator.pow, operator.matmul):
        with pytest.raises(MaskedArrayError):
            symbol(m, F32)
        with pytest.raises(MaskedArrayError):
            symbol(F32, m)
    with pytest.raises(MaskedArrayError):
        np.add(m, F32)
    same(np.ma.array([1.0, 2.0, 3.0]) * F32, F32 * F32)  # nothing is masked
    total = np.ma.add(m, F32)  # NumPy's own, which keeps the mask
    assert total.mask.tolist() == [False, True, False]
    assert total.compressed().tolist() == [2, 6]
    assert (m == F32).mask.tolist() == [False, True, False]


def test_only_the_class_has_the_attribute():
    for x in (F32, list(F32)[0]):
        assert not hasattr(x, "__array_ufunc__")
    hloom.jit(lambda x: hasattr(x, "__array_ufunc__") and pytest.fail())(F32)
    assert callable(hloom.Array.__array_ufunc__)


# ---- other libraries ----------------------------------------------------------------------------
class Foreign(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of another library, with ufuncs of its own."""

    def __array_ufunc__(self, ufunc, method, *operands, **options):
        return ufunc, operands


class Tagged(np.ndarray):
    """A subclass that lets NumPy compute, and tags what comes out."""

    def __array_ufunc__(self, ufunc, method, *operands, **options):
        plain = [x.view(np.ndarray) if isinstance(x, Tagged) else x for x in operands]
        found = super().__array_ufunc__(ufunc, method, *plain, **options)
        return found if found is NotImplemented else found.view(Tagged)


def test_another_librarys_array_gets_the_array_itself():
    other = Foreign()
    for call in (lambda: other + F32, lambda: F32 + other, lambda: np.add(F32, other)):
        ufunc, operands = call()
        assert ufunc is np.add
        assert any(x is F32 for x in operands)


def test_a_subclass_with_ufuncs_of_its_own_gets_values():
    tagged = np.array([1.0, 2.0, 3.0]).view(Tagged)
    for found in (np.hypot(tagged, F32), np.hypot(F32, tagged), tagged + F32):
        assert type(found) is Tagged
    assert (tagged + F32).tolist() == [2, 4, 6]


# ---- warnings and errors ------------------------------------------------------------------------
def test_numpys_warnings_are_at_the_users_line_and_as_it_is_told():
    zero, large = jnp.zeros(2), jnp.full(2, 3e38)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        np.log(zero)
        np.add.reduce(large)
    texts = ["divide by zero encountered in log", "overflow encountered in reduce"]
    assert [str(each.message) for each in caught] == texts
    assert {each.filename for each in caught} == {__file__}
    with np.errstate(divide="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.log(zero).tolist() == [-np.inf] * 2
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        np.log(zero)
    seen = []
    with np.errstate(divide="call", call=lambda *told: seen.append(told)):
        np.log(zero)
    assert len(seen) == 1


def test_a_traced_value_names_hlooms_function():
    sin, a = np.sin, np.ones(3)
    for function, way in [
        (lambda x: np.sin(x), "jnp.sin(x)"), (lambda x: sin(x), "jnp.sin(x)"),
        (lambda x: np.abs(x), "jnp.abs(x)"), (lambda x: np.isposinf(x), "jnp.isposinf(x)"),
        (lambda x: np.add(x, a), "jnp.add(x, a)"),
        (lambda x: np.add(x, a, dtype="int32"), "jnp.add(x, a).astype('int32')"),
        (lambda x: np.add.reduce(x), "jnp.sum(x, axis=0)"),
        (lambda x: np.maximum.reduce(x, None), "jnp.max(x, axis=None)"),
        (lambda x: np.add.at(a, 0, x[0]), "a = jnp.asarray(a).at[0].add(x[0])"),
    ]:  # fmt: skip
        for transformed in (hloom.jit(function), hloom.vmap(function)):
            with pytest.raises(TracerArrayConversionError) as caught:
                transformed(jnp.ones((2, 3)))
            assert f"\n  {way} " in str(caught.value), caught.value


def test_no_derivative_is_lost():
    for transform in (hloom.grad, lambda f: lambda x: hloom.jvp(f, (x,), (x,))):
        with pytest.raises(TracerArrayConversionError, match=r"derivative(.|\n)*jnp\.sin\(x\)"):
            transform(lambda x: np.sin(x) * x)(1.0)
        transform(lambda x: x * np.isfinite(x))(1.0)  # truth values have none
    assert hloom.grad(lambda x: x * np.sin(hloom.lax.stop_gradient(x)))(0.0) == 0


def test_a_traced_size_that_numpy_asks_for_is_explained():
    for function in (np.zeros, np.ones, lambda n: np.empty(n), lambda n: np.ones(4).reshape(n)):
        with pytest.raises(TypeError, match="expected a sequence of integers") as caught:
            hloom.jit(function)(2)
        assert "static_argnums=(0,)" in str(caught.value)
        assert "__index__" in str(caught.value)
    with pytest.raises(TypeError, match=r"scalar index; got f32\[\]$"):
        hloom.jit(lambda n: np.zeros(n))(2.0)


def test_tracebacks_show_no_frame_of_ours():
    for call in (
        lambda: np.ones(4) + F32, lambda: np.hypot(np.ones(4), F32), lambda: np.sin(F32, axis=0),
        lambda: np.add(1, 2, out=F32), lambda: hloom.grad(lambda x: np.sin(x))(1.0),
    ):  # fmt: skip
        with pytest.raises(Exception) as caught:
            call()
        files = {entry.path.name for entry in caught.traceback}
        assert files == {"test_ufuncs.py"}, files


def test_a_leaked_array_says_so():
    kept = []
    hloom.jit(lambda x: kept.append(x))(1.0)
    with pytest.raises(hloom.errors.UnexpectedTracerError):
        np.sin(kept[0])
