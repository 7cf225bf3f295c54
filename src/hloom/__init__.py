"""hloom: NumPy programs traced, differentiated, vectorised and compiled through StableHLO."""

from hloom import dtypes, engines, errors, lax, numpy, tree, tree_util
from hloom.config import config, disable_jit, enable_x64, engine, numpy_dtype_promotion
from hloom.control.abstract import ShapeDtypeStruct, eval_shape, make_jaxpr, typeof
from hloom.control.decorator import jit
from hloom.core.array import Array
from hloom.core.trace import ensure_compile_time_eval
from hloom.transforms.derivatives import grad, jvp, linearize, value_and_grad, vjp, vmap

__version__ = "0.1.0"  # setup.cfg reads this line, so it stays a literal

Array.__module__ = __name__  # as users reach it

__all__ = [
    "Array",
    "ShapeDtypeStruct",
    "config",
    "disable_jit",
    "dtypes",
    "enable_x64",
    "engine",
    "engines",
    "ensure_compile_time_eval",
    "errors",
    "eval_shape",
    "grad",
    "jit",
    "jvp",
    "lax",
    "linearize",
    "make_jaxpr",
    "numpy",
    "numpy_dtype_promotion",
    "tree",
    "tree_util",
    "typeof",
    "value_and_grad",
    "vjp",
    "vmap",
]
