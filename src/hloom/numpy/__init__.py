"""The lenient layer, `hloom.numpy`: NumPy's functions on hloom's arrays.  Re-exports, by chapter."""

from numpy import dtype, e, euler_gamma, inf, nan, newaxis, pi  # constants, and the class of dtypes
from numpy import (
    base_repr,
    binary_repr,
    format_float_positional,
    format_float_scientific,
    mintypecode,
    ndindex,
    typename,
)
from numpy.exceptions import ComplexWarning

from hloom.core.array import Array
from hloom.core.array import Array as ndarray
from hloom.numpy.attributes import astype, from_dlpack
from hloom.numpy.creation import (
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
    zeros,
    zeros_like,
)
from hloom.numpy.dtype_functions import (
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
    min_scalar_type,
    ndim,
    promote_types,
    result_type,
    shape,
    size,
)
from hloom.numpy.grids import c_, fromfunction, index_exp, indices, meshgrid, mgrid, ogrid, r_, s_
from hloom.numpy.matrices import diag, diagflat, eye, identity, tri, tril, triu, vander
from hloom.numpy.printing import (
    array2string,
    array_repr,
    array_str,
    get_printoptions,
    printoptions,
    set_printoptions,
)
from hloom.numpy.ranges import arange, geomspace, linspace, logspace
from hloom.numpy.scalars import (
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

# Loaded for its effect: it fills Array with operators and methods.
from hloom.numpy import operators  # isort: skip
