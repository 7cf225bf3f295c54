"""Names that NumPy or JAX has and hloom has not yet: the error says what to use instead.

`absent(module)` is the `__getattr__` of a public module.  Python asks it only for what is not
there, so `hasattr` stays False, and to add a name needs no change here: its row is then never read,
and a test asks for it to be taken away.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

#: Module -> the names of JAX, or of NumPy, that it is to have.
NAMES = {
    "hloom": """
        CompilerEffortLevel Device Inline NamedSharding P Ref Shard ad allow_f16_reductions
        array_garbage_collection_guard auto_pcast check_tracer_leaks checking_leaks checkpoint
        checkpoint_policies closure_convert custom_batching custom_derivatives custom_gradient
        custom_jvp custom_vjp debug debug_infs debug_key_reuse debug_nans default_device
        default_matmul_precision default_prng_impl dlpack ds empty_ref enable_checks
        enable_custom_prng experimental explain_cache_misses export extend ffi free_ref
        freeze fwd_and_bwd get_abstract_mesh get_mesh hessian image interpreters jacfwd jacobian
        jacrev jax2tf_associative_scan_reductions legacy_prng_key linear_transpose log_compiles
        make_array_from_callback make_array_from_process_local_data
        make_array_from_single_device_arrays make_mesh make_user_context memory named_call
        named_scope new_ref nn no_execution no_tracing pmap profiler pure_callback random remat
        remove_size_one_mesh_axis_from_type reshard scipy set_mesh shard_map sharding smap
        softmax_custom_jvp stages thread_guard threefry_partitionable transfer_guard
        transfer_guard_device_to_device transfer_guard_device_to_host
        transfer_guard_host_to_device tree_flatten tree_leaves tree_map tree_reduce tree_structure
        tree_transpose tree_unflatten use_abstract_mesh
    """,
    "hloom.lax": """
        after_all all_gather all_to_all axis_index axis_size create_token pbroadcast pcast pmax
        pmean pmin ppermute pshuffle psum psum_scatter psum_scatter_start pswapaxes
        ragged_all_to_all
    """,
    "hloom.lax.linalg": "cholesky_update_p symmetric_product_p",
    "hloom.numpy": """
        bartlett blackman fft float6_e2m3fn float6_e3m2fn frompyfunc hamming hanning int1 kaiser
        poly polyadd polyder polydiv polyfit polyint polymul polysub polyval roots ufunc uint1
    """,
    "hloom.numpy.linalg": """
        cholesky cond det eig eigh eigvals eigvalsh inv lstsq matrix_rank pinv qr slogdet solve svd
        svdvals tensorinv tensorsolve
    """,
}

_JACOBIAN = "hloom.vmap(lambda t: hloom.jvp(f, (x,), (t,))[1], out_axes=-1)(jnp.eye(x.size))"
_HESSIAN = "hloom.vmap(lambda t: hloom.jvp(hloom.grad(f), (x,), (t,))[1])(jnp.eye(x.size))"
_VALUE_OF = "g(x) + lax.stop_gradient(y - g(x))"

#: What to use meanwhile, in code: `f` is a function, `x` and `y` are arrays.
MEANWHILE = {
    "hloom.checkpoint": ("f(x)", "the same numbers; it would only need less memory"),
    "hloom.custom_gradient": (_VALUE_OF, "the value y, with the derivative of g"),
    "hloom.custom_jvp": (_VALUE_OF, "the value y, with the derivative of g"),
    "hloom.custom_vjp": (_VALUE_OF, "the value y, with the derivative of g"),
    "hloom.debug": ("hloom.make_jaxpr(f)(x)", "what is computed; print(x) works outside jit"),
    "hloom.debug_nans": ("jnp.isnan(x).any()", ""),
    "hloom.dlpack": ("jnp.from_dlpack(np.asarray(x))", ""),
    "hloom.hessian": (_HESSIAN, "of a function of a 1-d array"),
    "hloom.jacfwd": (_JACOBIAN, "of a function of a 1-d array"),
    "hloom.jacobian": (_JACOBIAN, "of a function of a 1-d array"),
    "hloom.jacrev": (_JACOBIAN, "of a function of a 1-d array"),
    "hloom.nn": ("jnp.maximum(x, 0)", "relu; lax.logistic is sigmoid"),
    "hloom.pmap": ("hloom.vmap(f)(x)", "on one device"),
    "hloom.random": ("jnp.asarray(np.random.default_rng(0).normal(size=3))", "before jit"),
    "hloom.remat": ("f(x)", "the same numbers; it would only need less memory"),
    "hloom.scipy": ("lax.erf(x)", "lax has erf, lgamma, digamma, betainc and more"),
    "hloom.shard_map": ("hloom.vmap(f)(x)", "on one device"),
    "hloom.tree_flatten": ("hloom.tree.flatten(x)", ""),
    "hloom.tree_leaves": ("hloom.tree.leaves(x)", ""),
    "hloom.tree_map": ("hloom.tree.map(f, x)", ""),
    "hloom.tree_reduce": ("hloom.tree.reduce(jnp.add, x)", ""),
    "hloom.tree_structure": ("hloom.tree.structure(x)", ""),
    "hloom.tree_transpose": ("hloom.tree.transpose", ""),
    "hloom.tree_unflatten": ("hloom.tree.unflatten(hloom.tree.structure(x), [y])", ""),
    "hloom.lax.pmax": ("x.max(axis=0)", "over the axis that vmap would map"),
    "hloom.lax.pmean": ("x.mean(axis=0)", "over the axis that vmap would map"),
    "hloom.lax.pmin": ("x.min(axis=0)", "over the axis that vmap would map"),
    "hloom.lax.psum": ("x.sum(axis=0)", "over the axis that vmap would map"),
    "hloom.numpy.Inf": ("jnp.inf", ""),
    "hloom.numpy.NaN": ("jnp.nan", ""),
    "hloom.numpy.alltrue": ("jnp.all(x)", ""),
    "hloom.numpy.asfarray": ("jnp.asarray(x, dtype=float)", ""),
    "hloom.numpy.asmatrix": ("jnp.atleast_2d(x)", "arrays have one class"),
    "hloom.numpy.bool8": ("jnp.bool_", ""),
    "hloom.numpy.complex": ("complex", "Python's own"),
    "hloom.numpy.copyto": ("x = jnp.broadcast_to(y, x.shape)", "arrays are immutable"),
    "hloom.numpy.cumproduct": ("jnp.cumprod(x)", ""),
    "hloom.numpy.fft": ("jnp.asarray(np.fft.fft(x))", "before jit; lax.fft inside"),
    "hloom.numpy.float": ("float", "Python's own"),
    "hloom.numpy.in1d": ("jnp.isin(x, y)", ""),
    "hloom.numpy.int": ("int", "Python's own"),
    "hloom.numpy.mat": ("jnp.atleast_2d(x)", "arrays have one class"),
    "hloom.numpy.matrix": ("jnp.atleast_2d(x)", "arrays have one class"),
    "hloom.numpy.msort": ("jnp.sort(x, axis=0)", ""),
    "hloom.numpy.nditer": ("list(x)", ""),
    "hloom.numpy.object": ("object", "Python's own; arrays hold numbers only"),
    "hloom.numpy.polyval": ("jnp.vander(x, y.size) @ y", "of coefficients y"),
    "hloom.numpy.product": ("jnp.prod(x)", ""),
    "hloom.numpy.putmask": ("x = jnp.where(x > 0, y, x)", "arrays are immutable"),
    "hloom.numpy.round_": ("jnp.round(x)", ""),
    "hloom.numpy.row_stack": ("jnp.vstack([x, y])", ""),
    "hloom.numpy.sometrue": ("jnp.any(x)", ""),
    "hloom.numpy.str": ("str", "Python's own; arrays hold numbers only"),
    "hloom.numpy.trapz": ("jnp.trapezoid(y, x)", ""),
    "hloom.numpy.linalg.cholesky": ("lax.linalg.cholesky(m)", ""),
    "hloom.numpy.linalg.eigh": ("lax.linalg.eigh(m)", "vectors first, then values"),
    "hloom.numpy.linalg.eig": ("lax.linalg.eig(m)", ""),
    "hloom.numpy.linalg.qr": ("lax.linalg.qr(m)", ""),
    "hloom.numpy.linalg.inv": ("lax.linalg.solve(m, jnp.eye(m.shape[0]))", ""),
    "hloom.numpy.linalg.solve": ("lax.linalg.solve(m, x[:, None])[:, 0]", "one right-hand side"),
    "hloom.numpy.linalg.svd": ("lax.linalg.svd(m)", ""),
}

#: Attributes of arrays of NumPy, JAX or others that hloom's have not.
OF_ARRAYS = {
    "abs": "jnp.abs(x)",
    "append": "jnp.append(x, y)",
    "backward": "hloom.grad(f)(x)",
    "clamp": "x.clip(0, 1)",
    "cpu": "np.asarray(x)",
    "cuda": "hloom.device_put(x)",
    "detach": "lax.stop_gradient(x)",
    "device_buffer": "x.addressable_data(0)",
    "dim": "x.ndim",
    "exp": "jnp.exp(x)",
    "float": "x.astype('float32')",
    "getfield": "x.view('int32')",
    "itemset": "x = x.at[0].set(1)",
    "log": "jnp.log(x)",
    "long": "x.astype('int32')",
    "median": "jnp.median(x)",
    "newbyteorder": "x.byteswap()",
    "norm": "jnp.linalg.norm(x)",
    "numpy": "np.asarray(x)",
    "permute": "x.transpose()",
    "sqrt": "jnp.sqrt(x)",
    "to": "x.astype('float32')",
    "tostring": "x.tobytes()",
    "unsqueeze": "jnp.expand_dims(x, 0)",
}


def absent(module: str) -> Callable[[str], NoReturn]:
    """The `__getattr__` of a public module."""

    def __getattr__(name: str) -> NoReturn:
        raise AttributeError(_text(module, name), name=name, obj=sys.modules[module])

    return __getattr__


def _text(module: str, name: str) -> str:
    text = f"module {module!r} has no attribute {name!r}"
    code, why = MEANWHILE.get(f"{module}.{name}", ("", ""))
    theirs = _of_numpy(module, name)
    if not code and theirs:
        code, why = theirs, "NumPy's own, which takes arrays as they are, outside jit"
    if name in NAMES[module].split():
        text += f": {'NumPy' if theirs else 'JAX'} has it, and hloom not yet"
    elif theirs:
        text += ": NumPy has it, and hloom has not"
    elif not code:
        return text
    return text + (f". Meanwhile use `{code}`" if code else "") + (f" ({why})" if why else "")


def _of_numpy(module: str, name: str) -> str:
    """NumPy's function of that name, in code."""
    place = module.removeprefix("hloom.").split(".")
    if place[0] != "numpy" or name.startswith("_"):
        return ""
    home: Any = np
    for part in place[1:]:
        home = getattr(home, part, None)
    return ".".join(["np", *place[1:], name]) if name in vars(home or object) else ""


class Absent:
    """An attribute that arrays have elsewhere: to ask for it says what to use instead."""

    def __init__(self, code: str):
        self.code = code

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, x: Any, owner: type) -> NoReturn:
        text = f"'{owner.__name__}' object has no attribute {self.name!r}: use `{self.code}`"
        raise AttributeError(text, name=self.name, obj=x)
