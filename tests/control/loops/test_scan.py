"""`scan`, `map`: values on three engines, derivatives, batches, closures, types, errors."""

from __future__ import annotations

import gc
import re
import threading
import weakref
from functools import partial

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax
from hloom.core import check_jaxpr
from tests.control.loops.loops_in_python import agree, gradient_is_right, on_engines
from tests.control.loops.loops_in_python import scan as python_scan

XS = np.linspace(0.5, 1.5, 5, dtype=np.float32)
ROWS = np.linspace(-1, 1, 15, dtype=np.float32).reshape(5, 3)


def total(carry, x):
    return carry * 0.5 + x, carry - x


def trees(carry, x):
    state = {"a": carry["a"] * x["p"][0] + 1, "n": carry["n"] + 1}
    return state, (x["p"][1], [carry["a"], None])


# ---- values -------------------------------------------------------------------------------------
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("unroll", [1, 2, 3, 5, 7, True, False, 0])
def test_a_scan_is_the_loop_whatever_its_direction_and_unrolling(reverse, unroll):
    got = lax.scan(total, jnp.float32(1), XS, reverse=reverse, unroll=unroll)
    agree(got, python_scan(total, jnp.float32(1), XS, reverse=reverse))


@pytest.mark.parametrize("length", [0, 1, 2, 6, 7])
@pytest.mark.parametrize("unroll", [1, 3])
def test_every_length_on_three_engines(length, unroll):
    xs = jnp.arange(float(length))

    def f(c, xs):
        return lax.scan(total, c, xs, unroll=unroll, reverse=True)

    on_engines(f, jnp.float32(2), xs)
    if length:
        agree(f(jnp.float32(2), xs), python_scan(total, jnp.float32(2), xs, reverse=True))
    else:
        assert f(jnp.float32(2), xs)[1].shape == (0,)


def test_pytrees_in_carry_xs_and_ys():
    init = {"a": jnp.ones(3), "n": jnp.int32(0)}
    xs = {"p": (ROWS, XS)}
    carry, (second, (a, nothing)) = lax.scan(trees, init, xs)
    assert nothing is None and int(carry["n"]) == 5
    agree((carry, second, a), (*python_scan(lambda c, x: trees(c, x), init, xs)[:1], XS, a))
    want, stacked = python_scan(lambda c, x: (trees(c, x)[0], c["a"]), init, xs)
    agree((carry, a), (want, stacked))


def test_no_xs_and_no_carry():
    carry, ys = lax.scan(lambda c, x: (c * 2, c), 1, None, length=4)
    assert int(carry) == 16 and ys.tolist() == [1, 2, 4, 8]
    carry, ys = lax.scan(lambda c, x: (c, x + 1), None, jnp.arange(3))
    assert carry is None and ys.tolist() == [1, 2, 3]
    carry, ys = lax.scan(lambda c, x: (c + 1, None), 0, (), length=3)
    assert int(carry) == 3 and ys is None
    assert lax.scan(lambda c, x: (None, None), None, None, length=3) == (None, None)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int4", "float16", "bfloat16", "complex64"])
def test_every_kind_of_dtype_can_be_stacked(dtype):
    xs = jnp.array([0, 1, 1, 0]).astype(dtype)
    on_engines(lambda xs: lax.scan(lambda c, x: (x, c), xs[0], xs), xs)
    carry, ys = lax.scan(lambda c, x: (x, c), xs[3], xs)
    assert ys.dtype == carry.dtype == xs.dtype
    assert jnp.real(ys).astype(jnp.float32).tolist() == [0, 0, 1, 1]


def test_numpy_arrays_and_python_numbers_are_operands():
    carry, ys = lax.scan(lambda c, x: (c + x, x), np.int32(1), np.arange(3, dtype=np.int32))
    assert int(carry) == 4 and isinstance(ys, hloom.Array)


# ---- weak types ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "init, step, dtype",
    [
        (0, lambda c: c + 1.5, "float32"),
        (0.0, lambda c: c + jnp.float32(1), "float32"),
        (0.0, lambda c: c * jnp.bfloat16(1), "bfloat16"),
        (0, lambda c: c + jnp.uint8(1), "uint8"),
        (0, lambda c: c + 1, "int32"),
    ],
)
def test_a_python_number_takes_the_type_that_the_body_gives(init, step, dtype):
    carry, _ = lax.scan(lambda c, x: (step(c), None), init, None, length=3)
    assert carry.dtype == dtype
    assert lax.while_loop(lambda c: c < 3, step, init).dtype == dtype
    assert lax.fori_loop(0, 3, lambda i, c: step(c), init).dtype == dtype


def test_a_weak_result_fits_a_strong_carry():
    carry, _ = lax.scan(lambda c, x: (1.0, None), jnp.float32(0), None, length=2)
    assert carry.dtype == "float32" and float(carry) == 1


# ---- derivatives --------------------------------------------------------------------------------
W = np.array([[0.5, -0.2, 0.1], [0.3, 0.4, -0.6], [0.0, 0.2, 0.7]])


def recurrent(w, c, xs):
    def step(c, x):
        c = jnp.tanh(w @ c) + x
        return c, jnp.sin(c).sum() * w[0, 0]

    carry, ys = lax.scan(step, c, xs)
    return (carry * carry).sum() + (ys * jnp.arange(ys.shape[0])).sum()


def test_derivatives_by_closure_carry_and_xs():
    gradient_is_right(recurrent, W, np.ones(3), ROWS)


@pytest.mark.parametrize("unroll", [2, True])
def test_derivatives_of_an_unrolled_reversed_scan_with_a_counter(unroll):
    def f(w, xs):
        def step(state, x):
            i, c = state
            return (i + 1, jnp.sin(c * w) * x * i), (c, i)

        (i, c), (ys, _) = lax.scan(step, (1, w), xs, reverse=True, unroll=unroll)
        return c + (ys * ys).sum() + i

    gradient_is_right(f, 0.7, XS)


def test_derivatives_where_only_some_of_the_carry_depends():
    def f(w):
        def step(state, x):
            a, b, c = state
            return (a + 1.0, b * w + a, c * 0.5 + b), a * c

        (a, b, c), ys = lax.scan(step, (0.0, 1.0, 2.0), None, length=4)
        return c + ys.sum()

    gradient_is_right(f, 0.3)


def test_second_derivatives_in_all_mixtures():
    def f(w):
        return lax.scan(lambda c, x: (jnp.sin(c) * w + x, c), w, XS.astype(np.float64))[0]

    with hloom.enable_x64():
        step = 1e-5
        slope = hloom.grad(f)
        want = (slope(0.4 + step) - slope(0.4 - step)) / (2 * step)
        agree(hloom.grad(hloom.grad(f))(0.4), want, 1e-8)
        agree(hloom.jvp(hloom.grad(f), (0.4,), (1.0,))[1], want, 1e-8)
        agree(hloom.grad(lambda w: hloom.jvp(f, (w,), (1.0,))[1])(0.4), want, 1e-8)
        agree(hloom.jit(hloom.grad(hloom.jit(hloom.grad(f))))(0.4), want, 1e-8)


def test_a_loop_invariant_residual_is_not_stacked():
    jaxpr = hloom.make_jaxpr(hloom.grad(recurrent))(W, jnp.ones(3), ROWS).jaxpr
    check_jaxpr(jaxpr)
    scans = [e for e in jaxpr.equations if e.primitive.name == "scan"]
    assert len(scans) == 2
    stacked = [v.aval.shape for e in scans for v in e.outputs]
    assert (5, 3, 3) not in stacked
    assert scans[1].params["reverse"]


def test_integers_and_unused_results_have_no_tangent():
    def f(x):
        (i, c), ys = lax.scan(lambda s, _: ((s[0] + 1, s[1] * x), s[0]), (0, x), None, length=3)
        return c + 0 * i

    gradient_is_right(f, 1.5)
    jaxpr = hloom.make_jaxpr(lambda x, t: hloom.jvp(f, (x,), (t,)))(1.0, 1.0).jaxpr
    (equation,) = [e for e in jaxpr.equations if e.primitive.name == "scan"]
    assert len(equation.outputs) == 4  # i, c, its tangent, ys


def test_the_value_under_eager_grad_is_concrete():
    def f(x):
        c, _ = lax.scan(lambda c, _: (c * x, None), 1.0, None, length=3)
        return c if c > 1 else -c

    assert float(hloom.grad(f)(2.0)) == 12
    assert float(hloom.grad(f)(0.5)) == -0.75


# ---- batches ------------------------------------------------------------------------------------
@pytest.mark.parametrize("axes", [(0, None, None), (None, 0, None), (None, None, 1), (2, 1, 0)])
def test_vmap_over_closure_carry_and_xs(axes):
    rng = np.random.default_rng(1)
    shapes = [(3, 3), (3,), (5, 3)]
    sized = [s if a is None else (*s[:a], 2, *s[a:]) for s, a in zip(shapes, axes)]
    operands = [rng.normal(size=s).astype(np.float32) for s in sized]

    def f(w, c, xs):
        return lax.scan(lambda c, x: (jnp.tanh(w @ c) + x, c), c, xs)

    got = hloom.vmap(f, axes)(*operands)
    for i in range(2):
        one = [x if a is None else np.take(x, i, a) for x, a in zip(operands, axes)]
        agree(hloom.tree.map(lambda y: y[i], got), f(*one))  # noqa: B023
    agree(hloom.jit(hloom.vmap(f, axes))(*operands), got)


def test_vmap_of_grad_and_grad_of_vmap():
    def f(w):
        return lax.scan(lambda c, x: (jnp.sin(c) * w + x, c), w, XS)[0]

    ws = jnp.array([0.1, 0.5, -0.7])
    want = jnp.stack([hloom.grad(f)(w) for w in ws])
    agree(hloom.vmap(hloom.grad(f))(ws), want)
    agree(hloom.grad(lambda ws: hloom.vmap(f)(ws).sum())(ws), want)
    agree(hloom.jit(hloom.vmap(hloom.vmap(hloom.grad(f))))(ws[None]), want[None])


def test_vmap_over_nothing_that_the_scan_uses():
    out = hloom.vmap(lambda x: lax.scan(total, jnp.float32(1), XS)[0] + x)(jnp.arange(2.0))
    assert out.shape == (2,)


def test_a_batch_of_none():
    out = hloom.vmap(lambda x: lax.scan(total, x, XS)[0])(jnp.zeros(0))
    assert out.shape == (0,)


# ---- nesting ------------------------------------------------------------------------------------
def test_scans_in_scans_and_jits():
    def outer(c, x):
        inner = hloom.jit(lambda c: lax.scan(lambda a, b: (a * x + b, a), c, XS)[0])
        return inner(c), c

    got = lax.scan(outer, jnp.float32(1), XS)
    agree(
        got,
        python_scan(
            lambda c, x: (python_scan(lambda a, b: (a * x + b, a), c, XS)[0], c), jnp.float32(1), XS
        ),
    )

    def f(c):
        return lax.scan(outer, c, XS)[0]

    agree(hloom.grad(f)(1.0), (f(1.01) - f(0.99)) / 0.02, 1e-2)


# ---- closures -----------------------------------------------------------------------------------
def test_what_a_body_closes_over_may_change_between_calls():
    scale = jnp.float32(2)
    offset = [1.0]
    state = {"w": jnp.ones(2)}

    def step(c, x):
        return c * scale + offset[0] + state["w"].sum(), None

    def run():
        return float(lax.scan(step, jnp.float32(1), None, length=1)[0])

    assert run() == 5
    scale = jnp.float32(3)
    assert run() == 6
    offset[0] = 2.0
    assert run() == 7
    state["w"] = jnp.zeros(2)
    assert run() == 5


def test_a_tracer_in_an_attribute_is_differentiated():
    class Model:
        w = jnp.float32(2)

    model = Model()

    def step(c, x):
        return c * model.w, None

    assert float(lax.scan(step, 1.0, None, length=3)[0]) == 8

    def loss(w):
        model.w = w
        return lax.scan(step, 1.0, None, length=3)[0]

    assert float(hloom.grad(loss)(2.0)) == 12


def test_a_function_made_anew_each_call_is_compiled_once(monkeypatch):
    compiled = []
    engine = hloom.core.support.executable.ENGINES["xla"]
    compile_text = engine.compile_text
    monkeypatch.setattr(
        engine, "compile_text", lambda *a, **k: (compiled.append(1), compile_text(*a, **k))[1]
    )
    for i in range(4):
        step_size = jnp.float32(i)
        lax.scan(lambda c, x: (c - step_size * x, c), jnp.float32(0), XS)  # noqa: B023
        if not i:
            first = len(compiled)
    assert len(compiled) == first


def test_a_function_is_traced_once_for_each_signature():
    traces = []

    def step(c, x):
        traces.append(1)
        return c + x, None

    def pure(c, x):
        return c + x, None

    for _ in range(3):
        lax.scan(pure, jnp.float32(0), XS)
        lax.scan(step, jnp.float32(0), XS)
    assert len(traces) == 3  # it closes over a list, which might change


def test_a_step_size_in_a_partial_or_a_dict_is_an_operand(monkeypatch):
    compiled = []
    engine = hloom.core.support.executable.ENGINES["xla"]
    compile_text = engine.compile_text
    monkeypatch.setattr(
        engine, "compile_text", lambda *a, **k: (compiled.append(1), compile_text(*a, **k))[1]
    )

    def step(size, c, x):
        return c - size * x, None

    counts = []
    for i in range(3):
        params = {"size": jnp.float32(i + 1)}
        got, _ = lax.scan(partial(step, params["size"]), jnp.float32(0), XS)
        agree(got, -(i + 1) * XS.sum())
        got, _ = lax.scan(lambda c, x: step(params["size"], c, x), jnp.float32(0), XS)  # noqa: B023
        agree(got, -(i + 1) * XS.sum())
        counts.append(len(compiled))
    assert counts[1:] == [counts[0]] * 2


def test_methods_callables_and_jitted_functions_are_bodies():
    class Cell:
        w = 2.0

        def step(self, c, x):
            return c * self.w + x, None

        __call__ = step

    cell = Cell()
    want = python_scan(cell.step, jnp.float32(1), XS)[0]
    for body in (cell.step, cell, hloom.jit(cell.step), partial(Cell.step, cell)):
        agree(lax.scan(body, jnp.float32(1), XS)[0], want)
    cell.w = 3.0
    want = python_scan(cell.step, jnp.float32(1), XS)[0]
    for body in (cell.step, cell):
        agree(lax.scan(body, jnp.float32(1), XS)[0], want)


def test_a_body_and_what_it_closes_over_are_not_kept_alive():
    def run():
        w = jnp.ones(3)

        def step(c, x):
            return c + w, None

        lax.scan(step, jnp.zeros(3), XS)
        hloom.grad(lambda c: lax.scan(step, c, XS)[0].sum())(jnp.zeros(3))
        return weakref.ref(step), weakref.ref(w)

    references = run()
    gc.collect()
    assert [r() for r in references] == [None, None]


def test_threads_scan_the_same_function():
    def step(c, x):
        return jnp.sin(c) + x, c * 2

    want = python_scan(step, jnp.float32(0.123), XS)
    results = []

    def work():
        results.append(lax.scan(step, jnp.float32(0.123), XS))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for got in results:
        agree(got, want)


# ---- map ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("batch_size", [None, 0, 1, 2, 3, 5, 7])
def test_map_is_vmap_whatever_the_batch_size(batch_size):
    def f(x):
        return {"s": jnp.sin(x["a"]).sum() * x["b"], "x": x["a"]}

    xs = {"a": ROWS, "b": XS}
    agree(lax.map(f, xs, batch_size=batch_size), hloom.vmap(f)(xs))
    g = hloom.jit(lambda xs: lax.map(f, xs, batch_size=batch_size))
    agree(g(xs), hloom.vmap(f)(xs))


def test_map_without_compiling():
    with hloom.disable_jit():
        got = lax.map(lambda x: {"a": float(x) * x}, XS)
    agree(got, {"a": XS * XS})


def test_map_of_no_slices():
    assert lax.map(lambda x: x + 1, jnp.zeros((0, 2))).shape == (0, 2)
    assert lax.map(lambda x: x + 1, jnp.zeros((0, 2)), batch_size=3).shape == (0, 2)


# ---- without compiling --------------------------------------------------------------------------
def test_disable_jit_runs_the_loop_in_python():
    seen = []

    def step(c, x):
        seen.append(float(c))
        return c + x, {"c": c}

    with hloom.disable_jit():
        got = lax.scan(step, jnp.float32(0), XS, reverse=True)
    assert len(seen) == 5
    agree(got, lax.scan(lambda c, x: (c + x, {"c": c}), jnp.float32(0), XS, reverse=True))


# ---- errors -------------------------------------------------------------------------------------
def failing(kind, fun, *patterns):
    with pytest.raises(kind) as caught:
        fun()
    text = str(caught.value)
    for pattern in patterns:
        assert re.search(pattern, text), text
    return text


def test_a_carry_that_changes_its_type_is_named_with_line_and_way_out():
    def step(carry, x):
        return (carry[0], carry[1] + 1.5), None

    text = failing(
        TypeError,
        lambda: lax.scan(step, (jnp.int32(0), jnp.int32(0)), XS),
        r"carry\[1\]: int32\[\] in, float32\[\] out",
        r"test_scan\.py:\d+",
        r"Ways? out",
        r"jnp\.asarray\(new\[1\], 'int32'\)",
    )
    assert "carry[0]" not in text


def test_the_same_words_under_jit_grad_and_vmap():
    def f(x):
        return lax.scan(lambda c, x: ({"w": jnp.zeros(3)}, None), {"w": x}, XS)[0]["w"]

    pattern = r"carry\['w'\]: float32\[\] in, float32\[3\] out"
    for g in (f, hloom.jit(f), hloom.grad(f), lambda x: hloom.vmap(f)(x[None])):
        failing(TypeError, lambda: g(jnp.float32(0)), pattern)  # noqa: B023


def test_another_shape_says_what_to_do():
    def grow(c, x):
        return {"w": jnp.concatenate([c["w"]] * 2)}, x

    failing(
        TypeError,
        lambda: lax.scan(grow, {"w": jnp.zeros(3)}, XS),
        r"carry\['w'\]: float32\[3\] in, float32\[6\] out",
        "concatenate at .*test_scan.py",
    )
    failing(
        TypeError,
        lambda: lax.scan(lambda c, x: (c[:, None], x), jnp.zeros(3), XS),
        r"new.reshape\(\(3,\)\)",
    )


def test_a_deleted_array_is_named():
    gone = jnp.ones(3)
    gone.delete()
    kind = hloom.errors.DeletedArrayError
    failing(kind, lambda: lax.scan(total, jnp.zeros(()), gone), r"f32\[3\]")
    failing(kind, lambda: lax.while_loop(lambda x: x.sum() < 3, lambda x: x + 1, gone))
    failing(kind, lambda: lax.cond(True, lambda x: x, lambda x: -x, gone))


def test_a_result_beyond_memory_raises_and_leaves_the_process_usable():
    failing(
        hloom.errors.DeviceMemoryError, lambda: lax.scan(lambda c, x: (c, c), 0.0, None, 10**13)
    )
    agree(lax.scan(total, jnp.float32(1), XS), python_scan(total, jnp.float32(1), XS))


@pytest.mark.parametrize(
    "kind, fun, pattern",
    [
        (TypeError, lambda: lax.scan(3, 0, XS), "scan takes f as a function"),
        (TypeError, lambda: lax.scan(total, "a", XS), "init: not an array: str 'a'"),
        (TypeError, lambda: lax.scan(total, 0.0, {"k": "a"}), r"xs\['k'\]: not an array"),
        (TypeError, lambda: lax.scan(lambda c, x: (c, "a"), 0, XS), r"result\[1\]"),
        (TypeError, lambda: lax.scan(lambda c, x: c, 0, XS), "pair"),
        (TypeError, lambda: lax.scan(lambda c, x: [c, x], 0, XS), "pair"),
        (TypeError, lambda: lax.scan(lambda c, x: ((c, c), x), 0, XS), "tree"),
        (ValueError, lambda: lax.scan(total, 0.0), "length"),
        (ValueError, lambda: lax.scan(total, 0.0, XS, length=4), r"xs: f32\[5\]\n  length=4"),
        (ValueError, lambda: lax.scan(total, 0.0, (XS, ROWS[:2])), r"xs\[1\]: f32\[2,3\]"),
        (ValueError, lambda: lax.scan(total, 0.0, np.float32(1)), r"xs is f32\[\]"),
        (ValueError, lambda: lax.scan(total, 0.0, None, length=-1), "from 0 to"),
        (TypeError, lambda: lax.scan(total, 0.0, None, length=2.5), "length as an int"),
        (ValueError, lambda: lax.scan(total, 0.0, None, length=10**30), "length from 0 to"),
        (TypeError, lambda: lax.scan(total, 0.0, XS, unroll=1.5), "unroll"),
        (ValueError, lambda: lax.scan(total, 0.0, XS, unroll=-1), "unroll"),
        (TypeError, lambda: lax.map(3, XS), "map takes f as a function"),
        (ValueError, lambda: lax.map(lambda x: x, np.float32(1)), r"map takes.*xs is f32\[\]"),
        (ValueError, lambda: lax.map(lambda x: x, ()), "map has nothing"),
        (TypeError, lambda: lax.map(lambda x: "a", XS), "map: .* must return arrays"),
        (ValueError, lambda: lax.map(lambda x: x, XS, batch_size=-1), "batch_size"),
        (TypeError, lambda: lax.map(lambda x: x, XS, batch_size=1.5), "batch_size"),
    ],
)
def test_bad_arguments(kind, fun, pattern):
    failing(kind, fun, pattern)


def test_python_control_flow_on_the_carry_says_so():
    def step(carry, x):
        return (carry if carry > 0 else -carry), x

    kind = hloom.errors.TracerBoolConversionError
    failing(kind, lambda: lax.scan(step, 1.0, XS), "lax.cond", "`carry`", "step")

    def halve(x):
        while x > 1:
            x = x / 2
        return x

    failing(kind, lambda: hloom.jit(halve)(3.0), "lax.while_loop", "lax.cond")


def test_a_body_that_leaks_is_found():
    kept = []

    def step(c, x):
        kept.append(c)
        return c, x

    lax.scan(step, 1.0, XS)
    failing(hloom.errors.UnexpectedTracerError, lambda: kept[0] + 1, "step")


def test_a_body_that_raises_leaves_the_next_call_alone():
    def step(c, x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        hloom.jit(lambda c: lax.scan(step, c, XS))(1.0)
    agree(lax.scan(total, jnp.float32(1), XS), python_scan(total, jnp.float32(1), XS))


def test_stop_gradient_in_a_loop_stops_derivatives_of_every_order():
    def f(x):
        return lax.scan(lambda c, _: (lax.stop_gradient(c) * x, c * x), x, None, length=2)[1].sum()

    def in_python(x):
        return x * x + lax.stop_gradient(x) * x * x

    for g in (hloom.grad, lambda f: hloom.grad(hloom.grad(f))):
        agree(g(f)(2.0), g(in_python)(2.0))
