"""The lenient layer, `hloom.numpy`: NumPy's functions, which promote and broadcast operands."""

from numpy import (  # constants, and the class of dtypes
    base_repr,
    binary_repr,
    broadcast,
    dtype,
    e,
    errstate,
    euler_gamma,
    format_float_positional,
    format_float_scientific,
    geterr,
    inf,
    mintypecode,
    nan,
    ndenumerate,
    ndindex,
    newaxis,
    pi,
    seterr,
    typename,
)
from numpy.exceptions import ComplexWarning

from hloom.core.array import Array
from hloom.core.array import Array as ndarray
from hloom.core.support.calls import publish as _publish
from hloom.errors.absent import absent as _absent
from hloom.numpy.attributes import astype
from hloom.numpy.common.printing import (
    array2string,
    array_repr,
    array_str,
    get_printoptions,
    printoptions,
    set_printoptions,
)
from hloom.numpy.creation.creation import (
    array,
    asanyarray,
    asarray,
    asarray_chkfinite,
    ascontiguousarray,
    asfortranarray,
    copy,
    empty,
    empty_like,
    frombuffer,
    fromiter,
    full,
    full_like,
    ones,
    ones_like,
    require,
    zeros,
    zeros_like,
)
from hloom.numpy.creation.dtype_functions import (
    can_cast,
    common_type,
    explain_promotion,
    finfo,
    iinfo,
    iscomplexobj,
    isdtype,
    isfortran,
    isrealobj,
    isscalar,
    issubdtype,
    iterable,
    may_share_memory,
    min_scalar_type,
    ndim,
    promote_types,
    result_type,
    shape,
    shares_memory,
    size,
)
from hloom.numpy.creation.files import (
    fromfile,
    fromstring,
    genfromtxt,
    load,
    loadtxt,
    save,
    savetxt,
    savez,
    savez_compressed,
)
from hloom.numpy.creation.grids import (
    c_,
    fromfunction,
    index_exp,
    indices,
    meshgrid,
    mgrid,
    ogrid,
    r_,
    s_,
)
from hloom.numpy.creation.interchange import from_dlpack
from hloom.numpy.creation.matrices import diag, diagflat, eye, identity, tri, tril, triu, vander
from hloom.numpy.creation.ranges import arange, geomspace, linspace, logspace
from hloom.numpy.creation.scalars import (
    bfloat16,
    bool,
    bool_,
    cdouble,
    character,
    complex64,
    complex128,
    complex_,
    complexfloating,
    csingle,
    double,
    flexible,
    float4_e2m1fn,
    float8_e3m4,
    float8_e4m3,
    float8_e4m3b11fnuz,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
    float16,
    float32,
    float64,
    float_,
    floating,
    generic,
    half,
    inexact,
    int2,
    int4,
    int8,
    int16,
    int32,
    int64,
    int_,
    integer,
    number,
    object_,
    signedinteger,
    single,
    uint,
    uint2,
    uint4,
    uint8,
    uint16,
    uint32,
    uint64,
    unsignedinteger,
)
from hloom.numpy.indexing.index_arrays import (
    diag_indices,
    diag_indices_from,
    diagonal,
    fill_diagonal,
    ix_,
    mask_indices,
    ravel_multi_index,
    tril_indices,
    tril_indices_from,
    triu_indices,
    triu_indices_from,
    unravel_index,
)
from hloom.numpy.indexing.insert_delete_repeat import delete, insert, repeat, tile, trim_zeros
from hloom.numpy.indexing.selection import choose, clip, piecewise, select, where
from hloom.numpy.padding import pad
from hloom.numpy.pointwise.arithmetic import (
    abs,
    absolute,
    add,
    divide,
    divmod,
    fabs,
    floor_divide,
    fmax,
    fmin,
    fmod,
    maximum,
    minimum,
    mod,
    multiply,
    negative,
    positive,
    remainder,
    sign,
    subtract,
    true_divide,
)
from hloom.numpy.pointwise.bitwise import (
    bitwise_and,
    bitwise_count,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_not,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    gcd,
    invert,
    lcm,
    left_shift,
    right_shift,
)
from hloom.numpy.pointwise.comparison import (
    allclose,
    array_equal,
    array_equiv,
    equal,
    greater,
    greater_equal,
    isclose,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    not_equal,
)
from hloom.numpy.pointwise.complex_parts import (
    angle,
    conj,
    conjugate,
    imag,
    iscomplex,
    isreal,
    real,
    real_if_close,
)
from hloom.numpy.pointwise.exponential import (
    exp,
    exp2,
    expm1,
    i0,
    log,
    log1p,
    log2,
    log10,
    logaddexp,
    logaddexp2,
)
from hloom.numpy.pointwise.ieee import (
    copysign,
    frexp,
    heaviside,
    isfinite,
    isinf,
    isnan,
    isneginf,
    isposinf,
    ldexp,
    modf,
    nan_to_num,
    nextafter,
    signbit,
    spacing,
)
from hloom.numpy.pointwise.interpolation import interp, unwrap
from hloom.numpy.pointwise.powers import (
    cbrt,
    float_power,
    hypot,
    pow,
    power,
    reciprocal,
    sqrt,
    square,
)
from hloom.numpy.pointwise.rounding import around, ceil, fix, floor, rint, round, trunc
from hloom.numpy.pointwise.trigonometric import (
    acos,
    acosh,
    arccos,
    arccosh,
    arcsin,
    arcsinh,
    arctan,
    arctan2,
    arctanh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cos,
    cosh,
    deg2rad,
    degrees,
    rad2deg,
    radians,
    sin,
    sinc,
    sinh,
    tan,
    tanh,
)
from hloom.numpy.products.einsum import einsum, einsum_path
from hloom.numpy.products.products import (
    cross,
    dot,
    inner,
    kron,
    matmul,
    matvec,
    outer,
    tensordot,
    vdot,
    vecdot,
    vecmat,
)
from hloom.numpy.products.signal import convolve, correlate
from hloom.numpy.reductions.cumulative import cumprod, cumsum, cumulative_prod, cumulative_sum
from hloom.numpy.reductions.differences import diff, ediff1d, gradient, trapezoid
from hloom.numpy.reductions.histograms import (
    bincount,
    digitize,
    histogram,
    histogram2d,
    histogram_bin_edges,
    histogramdd,
)
from hloom.numpy.reductions.reductions import (
    all,
    amax,
    amin,
    any,
    argmax,
    argmin,
    count_nonzero,
    max,
    min,
    minmax,
    prod,
    ptp,
    sum,
    trace,
)
from hloom.numpy.shapes.axes import (
    flip,
    fliplr,
    flipud,
    matrix_transpose,
    moveaxis,
    permute_dims,
    roll,
    rollaxis,
    rot90,
    swapaxes,
    transpose,
)
from hloom.numpy.shapes.joining import (
    append,
    array_split,
    block,
    column_stack,
    concat,
    concatenate,
    dsplit,
    dstack,
    hsplit,
    hstack,
    split,
    stack,
    unstack,
    vsplit,
    vstack,
)
from hloom.numpy.shapes.manipulation import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    broadcast_arrays,
    broadcast_shapes,
    broadcast_to,
    expand_dims,
    ravel,
    reshape,
    resize,
    squeeze,
)
from hloom.numpy.shapes.packing import packbits, unpackbits
from hloom.numpy.shapes.vectorize import apply_along_axis, apply_over_axes, vectorize

from hloom.numpy import linalg as linalg  # isort: skip
from hloom.numpy.indexing.nonzero import argwhere, flatnonzero, nonzero
from hloom.numpy.indexing.taking import (
    compress,
    extract,
    place,
    put,
    put_along_axis,
    take,
    take_along_axis,
)
from hloom.numpy.order.searching import searchsorted
from hloom.numpy.order.sets import (
    intersect1d,
    isin,
    setdiff1d,
    setxor1d,
    union1d,
    unique,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
)
from hloom.numpy.order.sorting import (
    argpartition,
    argsort,
    lexsort,
    partition,
    sort,
    sort_complex,
    top_k,
)
from hloom.numpy.reductions.nans import (
    nanargmax,
    nanargmin,
    nancumprod,
    nancumsum,
    nanmax,
    nanmin,
    nanprod,
    nansum,
)
from hloom.numpy.reductions.quantiles import (
    median,
    nanmedian,
    nanpercentile,
    nanquantile,
    percentile,
    quantile,
)
from hloom.numpy.reductions.statistics import (
    average,
    corrcoef,
    cov,
    mean,
    nanmean,
    nanstd,
    nanvar,
    std,
    var,
)
from hloom.numpy.standard import VERSION as __array_api_version__
from hloom.numpy.standard import __array_namespace_info__

# Loaded for its effect: it fills Array with operators and methods.
from hloom.numpy import operators  # isort: skip

__getattr__ = _absent(__name__)
_publish(globals(), __name__)
_publish(vars(linalg), linalg.__name__)
