"""`jit`: signatures, static arguments, donation, pytrees, caches, stages, threads, errors."""

from __future__ import annotations

import copy
import functools
import gc
import threading
import weakref
from collections import OrderedDict, namedtuple

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import errors, jit, lax
from hloom.errors import DeletedArrayError


def traced(fun, **options):
    """The jitted function and the list that grows by one with each trace."""
    traces = []

    @functools.wraps(fun)
    def counted(*args, **kwargs):
        traces.append(1)
        return fun(*args, **kwargs)

    return jit(counted, **options), traces


def test_a_signature_is_traced_once_and_a_new_one_again():
    f, traces = traced(lambda x: x * 2)
    for x in (
        jnp.ones(3),
        jnp.zeros(3),
        np.ones(3, np.float32),
        jnp.ones(4),
        jnp.ones(3, jnp.int32),
        1.0,
        2.0,
        1,
    ):
        f(x)
    assert len(traces) == 5
    assert f.cache_info().traces == 5
    f.clear_cache()
    f(jnp.ones(3))
    assert len(traces) == 6


def test_python_scalars_are_weakly_typed_arguments():
    f = jit(lambda x: x)
    assert repr(f(1)) == "Array(1, dtype=int32, weak_type=True)"
    assert repr(f(True)) == "Array(True, dtype=bool)"
    assert repr(f(np.float32(1))) == "Array(1., dtype=float32)"
    assert np.signbit(float(f(-0.0))) and not np.signbit(float(f(0.0)))
    assert np.isnan(float(f(np.nan)))


def test_defaults_keywords_methods_and_partials():
    f, traces = traced(
        lambda x, y=2.0, *rest, z=3.0, **more: x + y + z + sum(rest) + sum(more.values())
    )
    assert float(f(1.0)) == 6.0
    assert float(f(1.0, y=1.0)) == 5.0
    assert float(f(1.0, 1.0, 1.0, z=1.0, q=1.0)) == 5.0
    assert float(f(x=1.0)) == 6.0

    class Model:
        def __init__(self, w):
            self.w = w

        @functools.partial(jit, static_argnums=0)
        def __call__(self, x):
            return self.w * x

        @jit
        def twice(x):  # noqa: N805
            return 2 * x

    assert float(Model(3.0)(2.0)) == 6.0
    assert float(Model.twice(2.0)) == 4.0
    assert float(jit(functools.partial(lambda a, b: a - b, 5.0))(2.0)) == 3.0
    assert float(jit(functools.partial(lambda a, b: a - b, b=5.0))(2.0)) == -3.0


Point = namedtuple("Point", "x y")


def test_pytrees_in_and_out():
    @jit
    def f(tree):
        return {"sum": tree["p"].x + tree["p"].y, "rest": [tree["l"][0], None, (tree["o"]["k"],)]}

    out = f({"p": Point(jnp.ones(2), 1.0), "l": [2], "o": OrderedDict(k=3.0)})
    np.testing.assert_array_equal(out["sum"], [2, 2])
    assert int(out["rest"][0]) == 2 and out["rest"][1] is None and float(out["rest"][2][0]) == 3.0
    assert jit(lambda: (1, 2.0))()[0].shape == ()
    assert jit(lambda x: None)(1.0) is None
    assert jit(lambda x: ())(1.0) == ()
    assert type(jit(lambda p: p)(Point(1, 2))) is Point


def test_static_arguments_are_values_with_a_program_each():
    f, traces = traced(
        lambda x, n, flag=False: x * n if flag else x + n,
        static_argnums=(1,),
        static_argnames="flag",
    )
    assert float(f(2.0, 3)) == 5.0
    assert float(f(2.0, 3, flag=True)) == 6.0
    assert len(traces) == 2
    f(4.0, 3), f(5.0, 3, flag=False)
    assert len(traces) == 3


def test_static_values_that_are_equal_but_differ_have_their_own_program():
    f = jit(
        lambda s: (
            repr(s) == "x" or jnp.float32(np.copysign(1, s)) + (0 if isinstance(s, float) else 10)
        ),
        static_argnums=0,
    )
    assert [float(f(s)) for s in (1, 1.0, True, 0.0, -0.0)] == [11.0, 1.0, 11.0, 1.0, -1.0]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: jit(lambda x, sizes: x, static_argnames="sizes")(1.0, [1, 2]),
            (TypeError, ValueError),
            "sizes.*tuple",
        ),
        (lambda: jit(lambda x: x)("text"), TypeError, "`x`.*str"),
        (lambda: jit(lambda params: params)({"w": "text"}), TypeError, r"`params\['w'\]`"),
        (lambda: jit(lambda x: "text")(1.0), TypeError, "str"),
        (lambda: jit(lambda x: x)(object()), TypeError, "object"),
        (lambda: jit(3), TypeError, "int"),
        (lambda: jit(lambda x: x, static_argnums=3), ValueError, "static_argnums"),
        (lambda: jit(lambda x: x, static_argnames="y"), ValueError, "'y'"),
        (lambda: jit(lambda x: x, static_argnums="x"), TypeError, "static_argnums"),
        (
            lambda: jit(lambda x: x, static_argnums=0, donate_argnums=0),
            ValueError,
            "static and donated",
        ),
        (lambda: jit(lambda x: x)(), TypeError, "missing"),
        (lambda: jit(lambda x: x)(1, 2), TypeError, "positional"),
        (lambda: jit(lambda x: x)(2**40), OverflowError, "int32"),
        (lambda: jit(lambda x: x)(np.array(["a"])), TypeError, "`x`"),
        (lambda: jit(lambda x: x)(np.array([None])), TypeError, "`x`"),
    ],
)
def test_wrong_use_names_the_argument(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_donated_array_is_gone_and_says_so():
    f = jit(lambda x, y: x + y, donate_argnums=0)
    x, y = jnp.ones(1000), jnp.ones(1000)
    np.testing.assert_array_equal(f(x, y), 2)
    assert x.is_deleted() and not y.is_deleted()
    with pytest.raises(DeletedArrayError, match=r"f32\[1000\]"):
        x + 1
    with pytest.raises(DeletedArrayError):
        f(x, y)
    with pytest.raises(DeletedArrayError):
        np.asarray(x)
    with pytest.raises(DeletedArrayError):
        repr(x)


def test_a_donated_array_is_not_read_by_another_name():
    x = jnp.zeros(10)
    for f, names in [
        (jit(lambda a, b: a + b, donate_argnums=0), "`a` and `b`"),
        (jit(lambda a, b: a + b, donate_argnums=1), "`a` and `b`"),
        (jit(lambda a, b: a + b, donate_argnums=1).lower(x, x).compile(), "`a` and `b`"),
        (lambda a, b: jit(lambda d: d["p"] + d["q"], donate_argnums=0)({"p": a, "q": b}), "'p'"),
        (lambda a, b: jit(lambda a: a + b, donate_argnums=0)(a), "`a` is an array that the funct"),
    ]:
        with pytest.raises(ValueError, match=rf"{names}.*donated.*jnp.copy"):
            f(x, x)
    np.testing.assert_array_equal(x, 0)  # it is still there


def test_numbers_and_numpy_arrays_survive_donation():
    f = jit(lambda x, y: (x + 1, y * 2), donate_argnames=("x", "y"))
    source = np.ones(1000, np.float32)
    for _ in range(3):
        out, scaled = f(source, 2.0)
        assert float(scaled) == 4.0 and float(out[0]) == 2.0
    assert source[0] == 1.0 and float(jnp.add(2.0, 2.0)) == 4.0


def test_nested_jit_is_one_equation_and_inline_none():
    inner = jit(lambda x: x + 1)
    assert "jit[" in str(hloom.make_jaxpr(lambda x: inner(x))(1.0))
    inlined = jit(lambda x: x + 1, inline=True)
    assert "jit[" not in str(hloom.make_jaxpr(lambda x: inlined(x))(1.0))
    assert float(jit(lambda x: inner(inner(x)))(1.0)) == 3.0


def test_closed_over_arrays_are_operands_not_constants():
    w = jnp.arange(1000.0)
    f = jit(lambda x: x + w)
    np.testing.assert_array_equal(f(1.0), np.arange(1000.0) + 1)
    assert len(f.lower(1.0).as_text()) < 600
    closed = hloom.make_jaxpr(lambda x: x + w)(1.0)
    assert str(closed).startswith("{ lambda a:f32[1000]; b:f32[]. let")
    assert len(closed.consts) == 1


def test_stages_print_and_run():
    f = jit(lambda x, y: {"out": x @ y})
    lowered = f.lower(jnp.ones((2, 3)), hloom.ShapeDtypeStruct((3, 4), jnp.float32))
    assert "stablehlo.dot_general" in lowered.as_text()
    assert lowered.out_info["out"].shape == (2, 4)
    compiled = lowered.compile()
    assert "HloModule" in compiled.as_text()
    assert compiled.cost_analysis()["flops"] >= 2 * 2 * 3 * 4 - 8
    assert compiled.memory_analysis().argument_size_in_bytes >= 72
    np.testing.assert_array_equal(compiled(jnp.ones((2, 3)), jnp.ones((3, 4)))["out"], 3)
    with pytest.raises(TypeError, match=r"f32\[2,3\].*f32\[5,3\]"):
        compiled(jnp.ones((5, 3)), jnp.ones((3, 4)))
    assert "dot_general" in str(f.trace(jnp.ones((2, 3)), jnp.ones((3, 4))).jaxpr)
    assert f.eval_shape(jnp.ones((2, 3)), jnp.ones((3, 4)))["out"].dtype == np.float32


def test_the_text_has_the_users_lines():
    text = jit(lambda x: jnp.sin(x)).lower(1.0).as_text(debug_info=True)
    assert "test_jit.py" in text
    assert "test_jit.py" not in jit(lambda x: jnp.sin(x)).lower(1.0).as_text()


def test_make_jaxpr_and_eval_shape():
    jaxpr, shapes = hloom.make_jaxpr(
        lambda n, x: {"y": x * n}, static_argnums=0, return_shape=True
    )(3, jnp.ones(2))
    assert "mul" in str(jaxpr)
    assert shapes == {"y": hloom.ShapeDtypeStruct((2,), jnp.float32)}
    big = hloom.ShapeDtypeStruct((10**6, 10**6), jnp.float32)
    assert hloom.eval_shape(lambda x: x.sum(), big).shape == ()
    assert hloom.typeof(1.0).weak_type and str(hloom.typeof(jnp.ones((2, 3)))) == "f32[2,3]"


def test_disable_jit_runs_python():
    seen = []
    f = jit(lambda x: seen.append(float(x)) or x)
    with hloom.disable_jit():
        f(2.0), f(3.0)
    assert seen == [2.0, 3.0]


def test_the_x64_switch_has_programs_of_its_own():
    f, traces = traced(lambda x: x * 2)
    assert f(1.5).dtype == np.float32
    with hloom.enable_x64():
        assert f(1.5).dtype == np.float64
        assert f(np.arange(3)).dtype == np.int64
    assert f(1.5).dtype == np.float32
    assert len(traces) == 3


@pytest.mark.parametrize("engine", ["numpy", "reference"])
def test_other_engines_run_the_same_program(engine):
    f = jit(lambda x, y: jnp.sin(x) @ y + 1)
    x, y = jnp.arange(6.0).reshape(2, 3), jnp.ones(3)
    want = np.asarray(f(x, y))
    with hloom.engine(engine):
        np.testing.assert_allclose(f(x, y), want, rtol=2e-6)


def test_dropping_a_jitted_function_frees_what_it_held():
    def use():
        w = jnp.ones(10)
        jit(lambda x: x + w)(1.0)
        return weakref.ref(w)

    alive = use()
    gc.collect()
    hloom.clear_caches()
    gc.collect()
    assert alive() is None


def test_a_signature_that_never_repeats_does_not_fill_the_memory():
    f = jit(lambda x, n: x, static_argnums=1)
    for n in range(2100):
        f.jitted.traced.store(n, n)
    assert len(f.jitted.traced) <= f.cache_info().maxsize


def test_many_threads_many_signatures():
    f = jit(lambda x: (x * 2).sum())
    wrong = []

    def work(seed):
        for n in range(1, 6):
            if float(f(jnp.full(n, seed, jnp.float32))) != 2 * n * seed:
                wrong.append((seed, n))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong and f.cache_info().traces == 5


def test_jit_of_grad_of_a_dict_of_fifty():
    params = {f"w{i}": jnp.float32(i) for i in range(50)}
    f = jit(lambda p: {k: lax.add(v, 1.0) for k, v in p.items()})
    out = f(params)
    assert [float(out[f"w{i}"]) for i in range(50)] == [i + 1.0 for i in range(50)]
    assert list(out) == sorted(params)


def test_tracers_are_copied_and_waited_for_but_not_formatted():
    x = jnp.arange(2.0)
    waited = jit(lambda x: copy.deepcopy([x])[0] + copy.copy(x).block_until_ready())
    np.testing.assert_array_equal(waited(x), x * 2)
    with pytest.raises(errors.ConcretizationTypeError, match="`format` function"):
        jit(lambda x: f"{x[1]:.2f}")(x)
    seen = []
    hloom.grad(lambda x: seen.append(f"{x:.2f}") or x)(1.5)
    assert seen == ["1.50"]
