"""hloom: NumPy programs traced, differentiated, vectorised and compiled through StableHLO."""

from hloom import dtypes, engines, errors, lax, numpy, tree, tree_util
from hloom.config import (
    config,
    disable_jit,
    enable_x64,
    engine,
    exact,
    numpy_dtype_promotion,
    numpy_rank_promotion,
)
from hloom.control.devices import (
    block_until_ready,
    clear_caches,
    copy_to_host_async,
    default_backend,
    device_count,
    device_get,
    device_put,
    devices,
    effects_barrier,
    host_count,
    host_id,
    host_ids,
    live_arrays,
    local_device_count,
    local_devices,
    print_environment_info,
    process_count,
    process_index,
    process_indices,
)
from hloom.control.jit.abstract import ShapeDtypeStruct, eval_shape, make_jaxpr, typeof
from hloom.control.jit.decorator import jit
from hloom.core.array import Array, HostArray
from hloom.core.trace import ensure_compile_time_eval
from hloom.dtypes import float0
from hloom.errors.absent import absent as _absent
from hloom.transforms.derivatives import grad, jvp, linearize, value_and_grad, vjp, vmap

__version__ = "0.1.0"  # setup.cfg reads this line, so it stays a literal

Array.__module__ = HostArray.__module__ = __name__  # as users reach it
__getattr__ = _absent(__name__)

__all__ = [
    "Array",
    "ShapeDtypeStruct",
    "block_until_ready",
    "clear_caches",
    "config",
    "copy_to_host_async",
    "default_backend",
    "device_count",
    "device_get",
    "device_put",
    "devices",
    "disable_jit",
    "dtypes",
    "effects_barrier",
    "enable_x64",
    "engine",
    "engines",
    "ensure_compile_time_eval",
    "errors",
    "eval_shape",
    "exact",
    "float0",
    "grad",
    "host_count",
    "host_id",
    "host_ids",
    "jit",
    "jvp",
    "lax",
    "linearize",
    "live_arrays",
    "local_device_count",
    "local_devices",
    "make_jaxpr",
    "numpy",
    "numpy_dtype_promotion",
    "numpy_rank_promotion",
    "print_environment_info",
    "process_count",
    "process_index",
    "process_indices",
    "tree",
    "tree_util",
    "typeof",
    "value_and_grad",
    "vjp",
    "vmap",
]
