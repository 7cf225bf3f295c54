"""64-bit Arrays where 64-bit types are off: they, and what is computed from them, keep 64 bits."""

import operator

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import tree
from hloom.numpy import operators
from hloom.numpy.indexing.updates import AtIndex
from tests.numpy.test_array import METHODS
from tests.ops import harvest

BIG = 2**40 + 1
FLOATS = np.array([[1 / 3, -2e100, 0.0], [-0.0, np.inf, 1e-200]])
INTEGERS = np.array([[BIG, -BIG, 3], [0, 7, 2**62]])
SIGNED_ZERO = np.array([1e300, -0.0, 1 / 3])


def wide(x):
    """An Array made where 64-bit types are on, used where they are off."""
    with hloom.enable_x64():
        return jnp.asarray(x)


def same(got, expected):
    got, expected = hloom.tree.leaves(got), [np.asarray(x) for x in hloom.tree.leaves(expected)]
    for x, y in zip(got, expected, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_array_max_ulp(np.asarray(x), y, 4) if y.dtype.kind == "f" else (
            np.testing.assert_array_equal(np.asarray(x), y)
        )


OPERATORS = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, divmod,
]  # fmt: skip


@pytest.mark.parametrize("f", OPERATORS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("other", [3, BIG, np.int64(BIG)], ids=["int", "large", "int64"])
def test_operators_of_integers(f, other):
    """A Python or NumPy integer of any size beside a 64-bit array, on either side."""
    x = INTEGERS[:1]
    same(f(wide(x), other), f(x, other))
    same(f(other, wide(x)), f(other, x))
    same(hloom.jit(f)(wide(x), wide(other)), f(x, np.int64(other)))
    same(hloom.jit(lambda y: f(y, other))(wide(x)), f(x, other))


@pytest.mark.parametrize("f", OPERATORS, ids=lambda f: f.__name__)
def test_operators_of_floats(f):
    with np.errstate(all="ignore"):
        same(f(wide(FLOATS), 0.1), f(FLOATS, 0.1))
        same(f(0.1, wide(FLOATS)), f(0.1, FLOATS))
        same(f(wide(FLOATS), wide(INTEGERS)), f(FLOATS, INTEGERS))
        same(f(wide(FLOATS), jnp.float32(0.5)), f(FLOATS, 0.5))


def test_sequences_and_like():
    same(jnp.array([wide(1 / 3), wide(0.1)]), np.array([1 / 3, 0.1]))
    same(jnp.full_like(wide(INTEGERS), BIG), np.full_like(INTEGERS, BIG))
    same(jnp.insert(wide(INTEGERS[0]), 1, BIG), np.insert(INTEGERS[0], 1, BIG))


def test_ranges():
    big, third = wide(BIG), wide(1 / 3)
    same(jnp.arange(big, big + 3), np.arange(BIG, BIG + 3))
    same(jnp.linspace(third, 2, 5), np.linspace(1 / 3, 2, 5))
    same(jnp.geomspace(third, 2, 5), np.geomspace(1 / 3, 2, 5))
    same(hloom.lax.full_like(big, BIG + 1), np.array(BIG + 1))
    assert jnp.array_equal(big, BIG) and jnp.allclose(big, BIG)


def test_updates_and_reading():
    x = wide(INTEGERS)
    expected = INTEGERS.copy()
    expected[0, 1] = BIG + 5
    same(x.at[0, 1].set(BIG + 5), expected)
    same(x.at[:, 0].add(1)[:, 0], INTEGERS[:, 0] + 1)
    same(wide(BIG)[None].at[0].add(2**50), np.array([BIG + 2**50]))
    same(x[x > 5], INTEGERS[INTEGERS > 5])
    assert int(x[0, 0]) == BIG and x[0, 0] == BIG and BIG in x


def test_transformed():
    x = wide(SIGNED_ZERO)
    same(hloom.grad(lambda v: (v * v).sum())(x), 2 * SIGNED_ZERO)
    same(hloom.vmap(lambda v: v + 0.1)(x), SIGNED_ZERO + 0.1)
    same(
        hloom.jit(lambda v: jnp.where(v > 0, v / 3, 0.1))(x),
        np.where(SIGNED_ZERO > 0, SIGNED_ZERO / 3, 0.1),
    )
    same(hloom.jit(hloom.vmap(hloom.grad(lambda v: v * 0.1)))(x), np.full(3, 0.1))


def test_the_switch_still_rules_new_values():
    assert jnp.asarray(INTEGERS % 5).dtype == np.int32
    assert wide(FLOATS).astype(jnp.int32).dtype == np.int32
    assert wide(FLOATS).astype("float64").dtype == np.float64  # what it has
    assert (jnp.ones(2) + 1).dtype == np.float32


# ---- nothing has 64 bits that had not ------------------------------------------------------------
def _is_array(x):
    return isinstance(x, (hloom.Array, np.ndarray))


def _widened(x):
    """NumPy's values, in the 64-bit dtype of their kind."""
    x = np.asarray(x)
    wide = {"i": np.int64, "u": np.uint64, "f": np.float64, "c": np.complex128}
    return x.astype(wide.get(x.dtype.kind, x.dtype))


def narrow_only(results):
    """The results, of which none has 64 bits."""
    for x in tree.leaves(results):
        if isinstance(x, hloom.Array):
            assert x.dtype not in ("int64", "uint64", "float64", "complex128")
    return results


EXAMPLES = {
    **{f"jnp.{name}": calls for name, calls in harvest.numpy_calls().items()},
    **{f"lax.{name}": calls for name, calls in harvest.calls().items()},
}
for once in ("jnp.fromfile", "jnp.load", "lax.custom_linear_solve"):
    del EXAMPLES[once]  # of files and names that are gone with the example


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_no_result_has_64_bits_while_they_are_off(name):
    """Every public function, of its examples' operands and of NumPy's 64-bit ones."""
    with hloom.engine("numpy"):
        for call in EXAMPLES[name][:4]:
            leaves, structure = tree.flatten((call.args, call.kwargs))
            if any(isinstance(x, hloom.core.Tracer) for x in leaves):
                continue
            if any(isinstance(x, hloom.Array) and x.aval.is_wide for x in leaves):
                continue
            narrow_only(call.function(*call.args, **call.kwargs))
            wide = [_widened(x) if _is_array(x) else x for x in leaves]
            args, kwargs = tree.unflatten(structure, wide)
            try:
                made = call.function(*args, **kwargs)
            except TypeError:  # lax mixes no dtypes
                continue
            narrow_only(made)


@pytest.mark.parametrize("name", METHODS)
def test_no_method_gives_64_bits_while_they_are_off(name):
    for x in (jnp.ones((2, 3)), jnp.ones((2, 3), int), jnp.ones((2, 3), bool)):
        narrow_only(getattr(x, name)(*METHODS[name]))


QUANTILES = ("quantile", "percentile", "nanquantile", "nanpercentile")
VALUES = (np.array([3, 1, 4, 1]), np.array([3.0, 1, 4, 1]), np.array([3, 1, 4, 1], np.float16))


@pytest.mark.parametrize("value", VALUES, ids=lambda value: value.dtype.name)
@pytest.mark.parametrize("method", ["linear", "lower", "nearest", "weibull", "inverted_cdf"])
@pytest.mark.parametrize("name", QUANTILES)
def test_quantiles_are_as_wide_as_the_operand(name, method, value):
    f = getattr(jnp, name)
    kept = method in ("lower", "nearest", "inverted_cdf") and value.dtype.kind == "i"
    for q in (0.5, 1, [0.25, 0.5], np.float64(0.25), np.array([0.25]), jnp.array([0.25])):
        expected = getattr(np, name)(value, q, method=method)
        for engine in ("xla", "numpy") if q.__class__ is float else ("numpy",):
            with hloom.engine(engine):
                eager = f(value, q, method=method)
                traced = hloom.jit(lambda x, q=q: f(x, q, method=method))(jnp.asarray(value))
            for got in narrow_only((eager, traced)):
                assert got.dtype.kind == ("i" if kept else "f")
                np.testing.assert_allclose(got, expected, rtol=1e-3)
    weights = np.array([1.0, 2, 3, 4])
    narrow_only(f(value, 0.5, method="inverted_cdf", weights=weights))
    with hloom.enable_x64():
        x = jnp.asarray(np.array([3, 1, 4, 1]))
    assert f(x, 0.5).dtype == np.float64  # it keeps what it has


@pytest.mark.parametrize("value", VALUES, ids=lambda value: value.dtype.name)
def test_histograms_are_as_wide_as_the_operand(value):
    for x in (value, jnp.asarray(value)):
        for keywords in ({}, {"range": (0.0, 5.0)}, {"range": (0, 5), "density": True}):
            for found in (
                jnp.histogram(x, 5, **keywords),
                hloom.jit(lambda x, k=keywords: jnp.histogram(x, 5, **k))(x),
            ):
                for got, expected in zip(narrow_only(found), np.histogram(value, 5, **keywords)):
                    np.testing.assert_allclose(got, expected, rtol=1e-3)
        narrow_only(jnp.histogram_bin_edges(x, 5, (0.0, 5.0)))
        narrow_only(jnp.histogram2d(x, x, 5, range=[(0.0, 5.0), (1, 4)]))
        found, edges = narrow_only(jnp.histogramdd([x, x, x], 3, range=[None, (0.0, 5.0), None]))
        expected = np.histogramdd([value] * 3, 3, range=[None, (0.0, 5.0), None])
        np.testing.assert_array_equal(found, expected[0])
        for got, given in zip(edges, expected[1]):
            np.testing.assert_allclose(got, given, rtol=1e-3)


# ---- every public function ----------------------------------------------------------------------
def widened(x):
    """Arrays, and lists of numbers, as 64-bit Arrays; floats with bits that float32 has not."""
    if isinstance(x, hloom.core.Tracer) or not (_is_array(x) or _is_numbers(x)):
        return x
    value = _widened(x)
    if value.dtype.kind == "b":
        return x
    return wide(value * (1 + 2.0**-40) if value.dtype.kind in "fc" else value)


def _is_numbers(x):
    return isinstance(x, list) and x != [] and all(type(n) in (int, float) for n in x)


FLOAT, SIZE = wide(1 / 3), wide(3)
# What the examples of these functions don't give: an operand that is an array.
CALLS = {
    "arange": [(FLOAT, 3)], "array": [(FLOAT,), ([FLOAT, 0.1],)], "asanyarray": [(FLOAT,)],
    "asarray_chkfinite": [(FLOAT,)], "ascontiguousarray": [(FLOAT,)], "asfortranarray": [(FLOAT,)],
    "atleast_1d": [(FLOAT,)], "diag_indices": [(SIZE,)], "empty": [(SIZE,)], "eye": [(SIZE,)],
    "explain_promotion": [(FLOAT, 1)], "full": [((2,), FLOAT)], "geomspace": [(FLOAT, 2, 5)],
    "identity": [(SIZE,)], "indices": [((SIZE, 2),)], "linalg.matmul": [(FLOAT[None], FLOAT[None])],
    "linalg.matrix_transpose": [(FLOAT[None, None],)], "linspace": [(FLOAT, 2, 5), (SIZE, 4, 2)],
    "logspace": [(FLOAT, 2, 5)], "mask_indices": [(SIZE, jnp.triu)], "ndim": [(FLOAT,)],
    "ones": [(SIZE,)], "require": [(FLOAT,)],
    "shape": [(FLOAT,)], "tri": [(SIZE,)], "tril_indices": [(SIZE,)], "triu_indices": [(SIZE,)],
    "unravel_index": [(SIZE, (2, 4))], "zeros": [(SIZE,)],
}  # fmt: skip
# They take no array, or make one of what is no array.
WITHOUT = frozenset((
    "base_repr binary_repr broadcast_shapes can_cast finfo format_float_positional "
    "format_float_scientific frombuffer fromfile fromfunction fromiter fromstring genfromtxt "
    "get_printoptions geterr iinfo isdtype issubdtype load loadtxt mintypecode printoptions "
    "promote_types set_printoptions seterr typename vectorize"
).split())  # fmt: skip
FUNCTIONS = {
    **harvest.public(jnp),
    **{f"linalg.{name}": function for name, function in harvest.public(jnp.linalg).items()},
}


def _calls():
    """A few calls of every function with 64-bit operands: those of its examples, or of `CALLS`."""
    of_function = {}  # two names of one function share its examples
    for calls in harvest.numpy_calls().values():
        of_function.setdefault(calls[0].function, calls)
    for name, function in FUNCTIONS.items():
        calls = [(args, {}) for args in CALLS.get(name, [])]
        for call in of_function.get(function, [])[:4]:
            operands = (call.args, call.kwargs)
            given = tree.map(widened, operands, is_leaf=_is_numbers)
            before, after = tree.leaves(operands, is_leaf=_is_numbers), tree.leaves(given)
            if any(x is not y for x, y in zip(before, after)):
                calls.append(given)
        yield name, function, calls


def _difference(got, expected):
    """How outcomes differ, if they do: in type or in bits."""
    if isinstance(expected, Exception) or isinstance(got, Exception):
        if type(got) is type(expected):
            return None
        return f"{got!r}, and {expected!r} where they are on"
    if tree.structure(got) != tree.structure(expected):
        return f"{got!r}, and {expected!r} where they are on"
    for x, y in zip(tree.leaves(got), tree.leaves(expected)):
        if isinstance(y, hloom.Array) and not isinstance(y, hloom.core.Tracer):
            if x.aval is not y.aval or np.asarray(x).tobytes() != np.asarray(y).tobytes():
                return f"{x!r}, and {y!r} where they are on"
        elif not isinstance(y, np.ndarray) and repr(x) != repr(y):
            return f"{x!r}, and {y!r} where they are on"
    return None


def _outcome(function, args, kwargs):
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return error


def _faults(name, function, args, kwargs):
    """How a call where 64-bit types are off differs from that where they are on, traced too."""

    def traced(arrays):
        return hloom.eval_shape(of_arrays, arrays)

    def of_arrays(arrays):
        given = iter(arrays)
        put = [next(given) if isinstance(x, hloom.Array) else x for x in leaves]
        args, kwargs = tree.unflatten(structure, put)
        return [x for x in tree.leaves(function(*args, **kwargs)) if isinstance(x, hloom.Array)]

    leaves, structure = tree.flatten((args, kwargs))
    arrays = [x for x in leaves if isinstance(x, hloom.Array)]
    eager, jitted = (function, (args, kwargs)), (traced, ([arrays], {}))
    for how, (called, given) in {"eager": eager, "traced": jitted}.items():
        got = _outcome(called, *given)
        with hloom.enable_x64():
            expected = _outcome(called, *given)
        fault = _difference(got, expected)
        if fault:
            yield f"{name}, {how}: {fault}"


@pytest.mark.filterwarnings("ignore")
def test_every_function_of_64_bit_arrays_does_what_it_does_where_they_are_on():
    """A name without a call fails: an example with an array, or a row of `CALLS`."""
    without, faults = set(), []
    with hloom.engine("numpy"):
        for name, function, calls in _calls():
            if not calls:
                without.add(name)
            for args, kwargs in calls:
                faults += _faults(name, function, args, kwargs)
    assert not faults, "\n".join(faults)
    assert without == WITHOUT


METHOD_ARGUMENTS = {
    **METHODS, "argpartition": (1,), "astype": (float,), "choose": ([wide([[0.1] * 3] * 2)] * 2,),
    "searchsorted": (FLOAT,), "view": (np.float64,), "to_device": (hloom.devices()[0],),
    "addressable_data": (0,),
    "__divmod__": (0.1,), "__rdivmod__": (0.1,), "__pow__": (2,), "__rpow__": (0.1,),
    "__contains__": (1 / 3,), "__getitem__": (0,), "__deepcopy__": ({},),
}  # fmt: skip
# They write files, pointers and memory, give no array, or are of the objects themselves.
NO_VALUES = frozenset((
    "dump dumps tofile unsafe_buffer_pointer __hash__ __iter__ __dlpack__ ctypes data"
).split())  # fmt: skip


@pytest.mark.filterwarnings("ignore")
def test_every_method_of_64_bit_arrays_does_what_it_does_where_they_are_on():
    """Methods, properties and operators; a name without arguments in the table is called bare."""
    names = {*operators.METHODS, *operators.SPECIAL} - NO_VALUES
    binary = [f"__{side}{name}__" for name in operators.BINARY for side in ("", "r")]
    binary += [f"__{name}__" for name in operators.COMPARISONS]
    faults = []
    with hloom.engine("numpy"):
        for x in (wide(FLOATS), wide(INTEGERS), wide(INTEGERS + 0.1j)):
            rows = [(name, METHOD_ARGUMENTS.get(name, ())) for name in sorted(names)]
            rows += [(name, (other,)) for name in binary for other in (0.1, BIG, x)]
            for name, arguments in rows:
                faults += _faults(name, getattr(hloom.Array, name), (x, *arguments), {})
            for name in {*operators.PROPERTIES} - NO_VALUES:
                function = vars(hloom.Array)[name].fget
                faults += _faults(name, function, (x,), {})
            for method in ("set", "add", "multiply", "min", "power", "divide", "subtract", "max"):
                change = getattr(AtIndex, method)
                faults += _faults(method, lambda x, f=change: f(x.at[0], x[1] * 3), (x,), {})
                faults += _faults(method, lambda x, f=change: f(x.at[0, 1], BIG), (x,), {})
            faults += _faults("get", lambda x: x.at[9].get(mode="fill", fill_value=7), (x,), {})
            faults += _faults("r_", lambda x: jnp.r_[x[0], 0.1, 7:9], (x,), {})
    assert not faults, "\n".join(faults)
