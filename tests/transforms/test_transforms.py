"""The mechanism: grad, jvp, vmap and jit nested in any order, closures, leaks, threads."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import hloom
from hloom import grad, jit, jvp, lax, make_jaxpr, value_and_grad, vjp, vmap
from hloom.errors import TracerBoolConversionError, UnexpectedTracerError


def f(x):
    return lax.mul(lax.sin(x), lax.exp(x))


X = np.float32(1.3)
D1 = np.exp(1.3) * (np.sin(1.3) + np.cos(1.3))
D2 = 2 * np.exp(1.3) * np.cos(1.3)
V = np.array([0.1, 0.2, 0.3], np.float32)
DV1 = np.exp(V) * (np.sin(V) + np.cos(V))
DV2 = 2 * np.exp(V) * np.cos(V)


def close(got, want, rtol=2e-6):  # a few float32 roundings of values near 1 to 5
    np.testing.assert_allclose(np.asarray(got), want, rtol=rtol)


@pytest.mark.parametrize(
    ("transformed", "at", "want"),
    [
        (grad(f), X, D1),
        (grad(grad(f)), X, D2),
        (jit(grad(f)), X, D1),
        (grad(jit(f)), X, D1),
        (grad(grad(jit(f))), X, D2),
        (grad(jit(grad(f))), X, D2),
        (jit(grad(jit(grad(jit(f))))), X, D2),
        (vmap(grad(f)), V, DV1),
        (vmap(jit(grad(f))), V, DV1),
        (jit(vmap(grad(grad(jit(f))))), V, DV2),
        (grad(lambda v: lax.reduce_sum(vmap(f)(v), (0,))), V, DV1),
        (grad(lambda v: lax.reduce_sum(vmap(jit(grad(f)))(v), (0,))), V, DV2),
        (lambda x: jvp(grad(f), (x,), (1.0,))[1], X, D2),
        (grad(lambda x: jvp(f, (x,), (1.0,))[1]), X, D2),
        (vmap(vmap(grad(jit(f)))), V.reshape(3, 1), DV1.reshape(3, 1)),
        (lambda x: vjp(jit(f), x)[1](1.0)[0], X, D1),
        (lambda x: hloom.linearize(jit(f), x)[1](1.0), X, D1),
    ],
)
def test_transformations_nest_in_any_order(transformed, at, want):
    close(transformed(at), want)


@pytest.mark.parametrize(
    ("outer", "want"),
    [
        (lambda x: lax.mul(x, grad(lambda y: lax.add(x, y))(x)), 1.0),
        (lambda x: lax.mul(x, grad(lambda y: x)(x)), 0.0),
        (lambda x: lax.mul(x, grad(jit(lambda y: lax.mul(x, y)))(x)), 2 * 1.3),
        (lambda x: lax.mul(x, jvp(lambda y: lax.add(x, y), (1.0,), (1.0,))[1]), 1.0),
    ],
)
def test_perturbations_of_nested_derivatives_are_not_confused(outer, want):
    close(grad(outer)(X), want)


def test_jit_grad_and_vmap_close_over_outer_tracers():
    close(grad(lambda x: jit(lambda y: lax.mul(x, y))(3.0))(X), 3.0)
    close(vmap(lambda a: jit(lambda y: lax.mul(a, y))(3.0))(V), 3 * V)
    close(jit(lambda a: grad(lambda y: lax.mul(a, y))(3.0))(X), 1.3)
    close(vmap(lambda a: grad(lambda y: lax.mul(a, y))(3.0))(V), V)


def test_python_control_flow_on_values_works_under_eager_grad():
    def branch(x):
        return lax.sin(x) if x > 0 else lax.exp(x)

    close(grad(branch)(1.3), np.cos(1.3))
    close(grad(branch)(-1.3), np.exp(-1.3))
    with pytest.raises(TracerBoolConversionError):
        jit(grad(branch))(1.3)
    with pytest.raises(TracerBoolConversionError):
        vmap(branch)(V)


def test_a_while_loop_in_python_runs_under_eager_grad():
    def power(x):
        y = x
        while y < 100:
            y = lax.mul(y, x)
        return y

    close(grad(power)(3.0), 5 * 3.0**4)


@pytest.mark.parametrize("transform", [jit, grad, vmap, lambda g: lambda x: jvp(g, (x,), (x,))])
@pytest.mark.parametrize(
    "use",
    [
        lambda t: lax.sin(t),
        lambda t: lax.add(np.float32(1), t),
        lambda t: jit(lambda y: lax.mul(y, t))(1.0),
        lambda t: grad(lambda y: lax.mul(y, t))(1.0),
        lambda t: vmap(lambda y: lax.mul(y, t))(V),
        lambda t: t + 1,
        lambda t: hloom.numpy.sin(t),
        lambda t: hloom.numpy.stack([t, t]),
        lambda t: t.block_until_ready(),
    ],
)
def test_a_leaked_tracer_is_named_with_its_function(transform, use):
    box = []

    def leaky(x):
        box.append(lax.sin(x))
        return lax.sin(x)

    transform(leaky)(V if transform is vmap else X)
    with pytest.raises(UnexpectedTracerError, match="leaky"):
        use(box[0])


def test_an_exception_half_way_leaves_no_trace_behind():
    def broken(x):
        lax.sin(x)
        raise KeyError("half way")

    for transform in (jit, grad, vmap):
        with pytest.raises(KeyError, match="half way"):
            transform(broken)(V if transform is vmap else X)
        close(lax.sin(X), np.sin(1.3))
        close(grad(f)(X), D1)


def test_a_transformed_jitted_function_is_traced_once_per_signature():
    calls = []

    @jit
    def g(x):
        calls.append(x.shape)
        return f(x)

    for _ in range(2):
        grad(g)(X), grad(grad(g))(X), vmap(g)(V), g(X), jvp(g, (X,), (X,))
    assert calls == [()]
    vmap(vmap(g))(V.reshape(1, 3)), g(V)
    assert calls == [(), (3,)]


def test_a_generator_inside_jit_and_a_generator_of_jitted_calls():
    @jit
    def total(xs):
        def parts():
            for x in xs:
                yield lax.mul(x, x)

        out = 0.0
        for part in parts():
            out = out + part
        return out

    close(total([1.0, 2.0, 3.0]), 14.0)
    calls = (jit(lambda x: x + 1)(i) for i in range(3))
    assert [int(c) for c in calls] == [1, 2, 3]


def test_a_tracer_used_in_another_thread_is_an_error_there():
    seen = []

    @jit
    def g(x):
        def work():
            try:
                lax.sin(x)
            except UnexpectedTracerError as error:
                seen.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return x

    g(X)
    assert len(seen) == 1


def test_threads_trace_independently():
    results = {}

    def work(i):
        h = jit(lambda x: grad(f)(x) * i)
        results[i] = float(h(1.3))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for i in range(4):
        close(results[i], D1 * i)


def test_two_threads_calling_one_jitted_function_compile_it_once():
    traces = []

    @jit
    def g(x):
        traces.append(1)
        return f(x)

    outs = []
    threads = [threading.Thread(target=lambda: outs.append(float(g(X)))) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(traces) == 1
    close(outs, [np.sin(1.3) * np.exp(1.3)] * 8)


def test_grad_takes_pytrees_argnums_and_aux():
    def loss(params, x):
        y = params["w"] * x + params["b"]
        return y * y, {"y": y, "tag": "kept"}

    (value, aux), grads = value_and_grad(loss, has_aux=True)({"w": 2.0, "b": 1.0}, 3.0)
    close([value, aux["y"], grads["w"], grads["b"]], [49.0, 7.0, 42.0, 14.0])
    assert aux["tag"] == "kept"
    gx, gw = grad(lambda w, x: w * w * x, argnums=(1, 0))(3.0, 5.0)
    close([gx, gw], [9.0, 30.0])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: grad(f)(3), TypeError, "x.*i32"),
        (lambda: grad(lambda x: x)(V), TypeError, r"f32\[3\]"),
        (lambda: grad(lambda x: "no")(1.0), TypeError, "str"),
        (lambda: grad(f, argnums=2)(1.0), TypeError, "argnums"),
        (lambda: grad(f)("text"), TypeError, "str"),
        (lambda: vmap(f)(1.0), ValueError, "`x`"),
        (lambda: vmap(lambda a, b: a)(V, V[:2]), ValueError, "`a` has 3, `b` has 2"),
        (lambda: vmap(f, in_axes=None)(V), ValueError, "maps no argument"),
        (lambda: vmap(f, in_axes=2)(V), ValueError, "axis 2"),
        (lambda: jvp(f, (1.0,), (V,)), TypeError, "tangent"),
        (lambda: jvp(f, 1.0, (1.0,)), TypeError, "primals"),
        (lambda: vjp(f, 1.0)[1]((1.0, 2.0)), TypeError, "structure"),
    ],
)
def test_bad_arguments_of_transformations_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_vmap_axes_in_and_out():
    m = np.arange(6, dtype=np.float32).reshape(2, 3)
    close(vmap(lambda x: x * 2, in_axes=1)(m), m.T * 2)
    close(vmap(lambda x: x * 2, in_axes=1, out_axes=1)(m), m * 2)
    close(vmap(lambda x: x * 2, in_axes=-1, out_axes=-1)(m), m * 2)
    close(vmap(lambda d, s: d["a"] * s, in_axes=({"a": 0}, None))({"a": m}, 2.0), m * 2)
    close(vmap(lambda: lax.add(np.float32(1), 1.0), axis_size=3)(), [2, 2, 2])
    close(vmap(lambda x, y: x, out_axes=None, in_axes=(None, 0))(np.float32(2), V), 2.0)


@pytest.mark.parametrize("what", ["in_axes", "out_axes"])
@pytest.mark.parametrize("axis", [1.0, True, "a", np.array(0), hloom.numpy.array([0.0, 1.0])])
def test_axes_of_vmap_are_ints_and_none(what, axis):
    for kind in (ValueError, TypeError):
        with pytest.raises(kind, match=f"{what} takes ints and None; got"):
            vmap(f, **{what: axis})(V)
    close(vmap(f, **{what: np.int32(0)})(V), f(V))


def test_a_jaxpr_is_printed_as_in_the_seed():
    text = str(make_jaxpr(jit(f))(1.0))
    assert text == (
        "{ lambda ; a:f32[]. let\n    b:f32[] = jit[\n      name=f\n"
        "      jaxpr={ lambda ; a:f32[]. let\n          b:f32[] = sin a\n"
        "          c:f32[] = exp a\n          d:f32[] = mul b c\n        in (d,) }\n    ] a\n"
        "  in (b,) }"
    )
