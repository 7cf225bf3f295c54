"""The strict layer, `hloom.lax`: operations and control flow.  Re-exports only.

Strict means: no promotion of dtypes, no broadcasting of ranks.  `hloom.numpy` is the lenient layer
on top.
"""

from hloom.ops.linear import broadcast_in_dim, reduce_sum, transpose
from hloom.ops.arithmetic import add, div, mul, neg, sub
from hloom.ops.compare import clamp, eq, ge, gt, le, lt, ne, select, select_n
from hloom.ops.unary import (
    RoundingMethod,
    abs,
    bitwise_not,
    cbrt,
    ceil,
    clz,
    exp,
    exp2,
    expm1,
    floor,
    integer_pow,
    is_finite,
    log,
    log1p,
    log2,
    logistic,
    population_count,
    reciprocal,
    round,
    rsqrt,
    sign,
    sqrt,
    square,
)
from hloom.ops.trigonometric import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cos,
    cosh,
    sin,
    sinh,
    tan,
    tanh,
)
from hloom.ops.binary import (
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    max,
    min,
    mulhi,
    nextafter,
    pow,
    rem,
    shift_left,
    shift_right_arithmetic,
    shift_right_logical,
)
from hloom.ops.complex import complex, conj, imag, real
from hloom.ops.convert import bitcast_convert_type, convert_element_type, reduce_precision
from hloom.ops.special import (
    bessel_i0e,
    bessel_i1e,
    digamma,
    erf,
    erf_inv,
    erfc,
    lgamma,
    polygamma,
    zeta,
)
from hloom.ops.shape import (
    broadcast,
    broadcast_shapes,
    broadcast_to_rank,
    broadcasted_iota,
    collapse,
    empty,
    expand_dims,
    full,
    full_like,
    iota,
    optimization_barrier,
    reshape,
    rev,
    squeeze,
    stop_gradient,
)
from hloom.ops.slicing import (
    concatenate,
    index_in_dim,
    pad,
    slice,
    slice_in_dim,
    split,
    stack,
    tile,
    unstack,
)
from hloom.ops.dynamic_slicing import (
    dynamic_index_in_dim,
    dynamic_slice,
    dynamic_slice_in_dim,
    dynamic_update_index_in_dim,
    dynamic_update_slice,
    dynamic_update_slice_in_dim,
)
from hloom.ops.gather import (
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
    gather,
    scatter_add,
)
from hloom.ops.scatter import (
    scatter,
    scatter_apply,
    scatter_max,
    scatter_min,
    scatter_mul,
    scatter_sub,
)
from hloom.ops.reduce import (
    argmax,
    argmin,
    reduce_and,
    reduce_max,
    reduce_min,
    reduce_or,
    reduce_prod,
    reduce_xor,
)
from hloom.ops.cumulative import cumlogsumexp, cummax, cummin, cumprod, cumsum
from hloom.ops.windows import padtype_to_pads, reduce_window_shape_tuple
from hloom.ops.sorting import approx_max_k, approx_min_k, sort, sort_key_val, top_k
from hloom.ops.dot import Precision, batch_matmul, dot, dot_general

__all__ = ["GatherDimensionNumbers", "GatherScatterMode", "Precision", "RoundingMethod", "ScatterDimensionNumbers", "abs", "acos", "acosh", "add", "approx_max_k", "approx_min_k", "argmax", "argmin", "asin", "asinh", "atan", "atan2", "atanh", "batch_matmul", "bessel_i0e", "bessel_i1e", "bitcast_convert_type", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "broadcast", "broadcast_in_dim", "broadcast_shapes", "broadcast_to_rank", "broadcasted_iota", "cbrt", "ceil", "clamp", "clz", "collapse", "complex", "concatenate", "conj", "convert_element_type", "cos", "cosh", "cumlogsumexp", "cummax", "cummin", "cumprod", "cumsum", "digamma", "div", "dot", "dot_general", "dynamic_index_in_dim", "dynamic_slice", "dynamic_slice_in_dim", "dynamic_update_index_in_dim", "dynamic_update_slice", "dynamic_update_slice_in_dim", "empty", "eq", "erf", "erf_inv", "erfc", "exp", "exp2", "expand_dims", "expm1", "floor", "full", "full_like", "gather", "ge", "gt", "imag", "index_in_dim", "integer_pow", "iota", "is_finite", "le", "lgamma", "log", "log1p", "log2", "logistic", "lt", "max", "min", "mul", "mulhi", "ne", "neg", "nextafter", "optimization_barrier", "pad", "padtype_to_pads", "polygamma", "population_count", "pow", "real", "reciprocal", "reduce_and", "reduce_max", "reduce_min", "reduce_or", "reduce_precision", "reduce_prod", "reduce_sum", "reduce_window_shape_tuple", "reduce_xor", "rem", "reshape", "rev", "round", "rsqrt", "scatter", "scatter_add", "scatter_apply", "scatter_max", "scatter_min", "scatter_mul", "scatter_sub", "select", "select_n", "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign", "sin", "sinh", "slice", "slice_in_dim", "sort", "sort_key_val", "split", "sqrt", "square", "squeeze", "stack", "stop_gradient", "sub", "tan", "tanh", "tile", "top_k", "transpose", "unstack", "zeta"]  # fmt: skip
