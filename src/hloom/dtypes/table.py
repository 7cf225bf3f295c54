"""The table of dtypes, and how to get from what a user wrote to one of its rows.

A dtype is always a canonical `numpy.dtype`: native byte order, no metadata, one object for each
name.  Those that NumPy lacks (bfloat16, 8-bit floats, 4-bit integers) come from `ml_dtypes`.
"""

from __future__ import annotations

from os.path import commonprefix
from typing import Any, NamedTuple, NoReturn, TypeAlias, TypeGuard

import ml_dtypes
import numpy as np

#: A dtype: NumPy's class.
Dtype: TypeAlias = np.dtype[Any]


class DType(NamedTuple):
    """One row of `TABLE`.  `bits` counts the bits of the value; `dtype.itemsize` is its storage."""

    name: str
    kind: str
    bits: int
    hlo: str
    short: str

    @property
    def dtype(self) -> Dtype:
        return np.dtype(getattr(ml_dtypes, self.name, self.name))


#: Every dtype there is, a row for each.  int1 and uint1 are left out: StableHLO's i1 is bool, and
#: it has no ui1.
TABLE = (
    #     name                  kind     bits  hlo              short
    DType("bool",               "bool",      1, "i1",            "bool"),
    DType("int2",               "signed",    2, "i2",            "i2"),
    DType("int4",               "signed",    4, "i4",            "i4"),
    DType("int8",               "signed",    8, "i8",            "i8"),
    DType("int16",              "signed",   16, "i16",           "i16"),
    DType("int32",              "signed",   32, "i32",           "i32"),
    DType("int64",              "signed",   64, "i64",           "i64"),
    DType("uint2",              "unsigned",  2, "ui2",           "u2"),
    DType("uint4",              "unsigned",  4, "ui4",           "u4"),
    DType("uint8",              "unsigned",  8, "ui8",           "u8"),
    DType("uint16",             "unsigned", 16, "ui16",          "u16"),
    DType("uint32",             "unsigned", 32, "ui32",          "u32"),
    DType("uint64",             "unsigned", 64, "ui64",          "u64"),
    DType("float4_e2m1fn",      "float",     4, "f4E2M1FN",      "f4_e2m1fn"),
    DType("float8_e3m4",        "float",     8, "f8E3M4",        "f8_e3m4"),
    DType("float8_e4m3",        "float",     8, "f8E4M3",        "f8_e4m3"),
    DType("float8_e4m3b11fnuz", "float",     8, "f8E4M3B11FNUZ", "f8_e4m3b11fnuz"),
    DType("float8_e4m3fn",      "float",     8, "f8E4M3FN",      "f8_e4m3fn"),
    DType("float8_e4m3fnuz",    "float",     8, "f8E4M3FNUZ",    "f8_e4m3fnuz"),
    DType("float8_e5m2",        "float",     8, "f8E5M2",        "f8_e5m2"),
    DType("float8_e5m2fnuz",    "float",     8, "f8E5M2FNUZ",    "f8_e5m2fnuz"),
    DType("float8_e8m0fnu",     "float",     8, "f8E8M0FNU",     "f8_e8m0fnu"),
    DType("float16",            "float",    16, "f16",           "f16"),
    DType("bfloat16",           "float",    16, "bf16",          "bf16"),
    DType("float32",            "float",    32, "f32",           "f32"),
    DType("float64",            "float",    64, "f64",           "f64"),
    DType("complex64",          "complex",  64, "complex<f32>",  "c64"),
    DType("complex128",         "complex", 128, "complex<f64>",  "c128"),
)  # fmt: skip

#: Kinds in promotion order, each with the NumPy class that all its dtypes belong to.
KINDS = {
    "bool": np.bool_,
    "unsigned": np.unsignedinteger,
    "signed": np.signedinteger,
    "float": np.floating,
    "complex": np.complexfloating,
}

# What an operation may say it accepts: kinds, and the dtype that messages suggest.
_DOMAINS = {
    "any": (("bool", "unsigned", "signed", "float", "complex"), "float32"),
    "number": (("unsigned", "signed", "float", "complex"), "float32"),
    "real": (("unsigned", "signed", "float"), "float32"),
    "inexact": (("float", "complex"), "float32"),
    "float": (("float",), "float32"),
    "complex": (("complex",), "complex64"),
    "integer": (("unsigned", "signed"), "int32"),
    "signed": (("signed",), "int32"),
    "unsigned": (("unsigned",), "uint32"),
    "bool": (("bool",), "bool"),
    "bits": (("bool", "unsigned", "signed"), "int32"),
    "ordered": (("bool", "unsigned", "signed", "float"), "float32"),
}

ROWS = {row.dtype: row for row in TABLE}
BY_SHORT = {row.short: row.dtype for row in TABLE}
#: Domain name -> its dtypes: "number" is every dtype but bool, "ordered" every one but complex.
DOMAINS = {
    domain: frozenset(row.dtype for row in TABLE if row.kind in kinds)
    for domain, (kinds, _) in _DOMAINS.items()
}


def row(dtype: object) -> DType:
    """The row of `TABLE` for a dtype, or for anything else that `as_dtype` takes."""
    return ROWS[as_dtype(dtype)]


def short_name(dtype: object) -> str:
    """The spelling in jaxprs and error messages.

    >>> hloom.dtypes.short_name("float32"), hloom.dtypes.short_name("bfloat16")
    ('f32', 'bf16')
    """
    return ROWS[as_dtype(dtype)].short


def hlo_name(dtype: object) -> str:
    """The spelling in StableHLO text.

    >>> hloom.dtypes.hlo_name("uint8"), hloom.dtypes.hlo_name("complex64")
    ('ui8', 'complex<f32>')
    """
    return ROWS[as_dtype(dtype)].hlo


def kind(dtype: object) -> str:
    """One of "bool", "unsigned", "signed", "float", "complex".

    >>> hloom.dtypes.kind("bfloat16")
    'float'
    """
    return ROWS[as_dtype(dtype)].kind


def bits(dtype: object) -> int:
    """The bits of one value: 1 for bool, 4 for int4, 128 for complex128."""
    return ROWS[as_dtype(dtype)].bits


def addressable(dtype: Dtype) -> Dtype:
    """The dtype itself, or int8 for int2 and uint8 for uint2: XLA can't move a quarter of a byte.

    >>> hloom.dtypes.addressable("uint2"), hloom.dtypes.addressable("int4")
    (dtype('uint8'), dtype(int4))
    """
    dtype = as_dtype(dtype)
    if bits(dtype) != 2:
        return dtype
    return np.dtype("int8" if kind(dtype) == "signed" else "uint8")


def in_domain(dtype: object, domain: str) -> bool:
    """Whether `dtype` belongs to a domain, a key of `DOMAINS`.

    >>> hloom.dtypes.in_domain("int8", "real"), hloom.dtypes.in_domain("bool", "number")
    (True, False)
    """
    return as_dtype(dtype) in DOMAINS[_domain("in_domain", domain)]


def example(domain: str) -> str:
    """A dtype of the domain for messages that say what to convert to."""
    return _DOMAINS[_domain("example", domain)][1]


def _domain(who: str, given: str) -> str:
    """A key of `DOMAINS`; ValueError for another name, TypeError for what is no name."""
    if not isinstance(given, str) or given not in _DOMAINS:
        kind = ValueError if isinstance(given, str) else TypeError
        raise kind(f"{who} takes one of the domains {', '.join(_DOMAINS)}; got {given!r:.60}")
    return given


def is_numpy(dtype: object) -> bool:
    """Whether NumPy itself defines the dtype; `ml_dtypes` defines the others."""
    return as_dtype(dtype).isbuiltin == 1


# ---- from whatever the user wrote to a dtype -------------------------------------------------

# What `as_dtype` has answered so far for dtypes, scalar types and names: the fast path.
_KNOWN: dict[object, Dtype] = {}
for _row in TABLE:
    _KNOWN |= dict.fromkeys((_row.dtype, _row.dtype.type, _row.name), _row.dtype)

# NumPy's scalar classes that mean no single dtype.
_ABSTRACT = frozenset(cls for leaf in (*KINDS.values(), np.str_) for cls in leaf.__mro__)

# NumPy's letter for a kind -> what arrays don't hold, and what to do instead.
_TEXT = ("no text", "number the words first: np.unique(x, return_inverse=True)")
_FOREIGN = {
    "f": ("no float wider than float64", 'convert it: x.astype("float64")'),
    "c": ("no complex number wider than complex128", 'convert it: x.astype("complex128")'),
    "O": ("no Python objects", 'make all elements numbers: np.asarray(x, dtype="float32")'),
    "S": _TEXT,
    "U": _TEXT,
    "T": _TEXT,
    "M": ("no dates", 'use their integers: x.astype("int64")'),
    "m": ("no durations", 'use their integers: x.astype("int64")'),
    "V": ("no records", "use a dict of arrays, one for each field"),
}


def as_dtype(dtype_like: object) -> Dtype:
    """The canonical dtype for a dtype, a NumPy scalar type, a name, or an object with `.dtype`.

    Python's `bool`, `int`, `float` and `complex` give the 64-bit dtypes, as in NumPy; see
    `canonicalize`.  A byte order other than the machine's is dropped.

    Raises TypeError for what is not a dtype and for dtypes that arrays can't have.  Differs from
    NumPy: None is an error instead of float64, which it would too often be by accident.

    >>> hloom.dtypes.as_dtype("bfloat16"), hloom.dtypes.as_dtype(np.zeros(3, ">f4"))
    (dtype(bfloat16), dtype('float32'))
    """
    try:
        return _KNOWN[dtype_like]
    except (KeyError, TypeError):  # TypeError: not hashable, an array
        given = numpy_dtype(dtype_like)
    canonical = _canonical(given)
    if isinstance(dtype_like, str) and len(_KNOWN) < 1000:
        _KNOWN[dtype_like] = canonical
    return canonical


def numpy_dtype(dtype_like: object) -> Dtype:
    """NumPy's reading of what the user wrote, its errors reworded; any dtype, not only ours."""
    found = getattr(dtype_like, "dtype", None)
    if isinstance(found, np.dtype):
        return found
    if dtype_like is None:
        raise TypeError('a dtype is needed here, such as "float32"; got None')
    try:
        return np.dtype(dtype_like)  # type: ignore[call-overload, no-any-return]
    except (TypeError, ValueError, SyntaxError) as error:  # SyntaxError: "i4, (" and the like
        raise TypeError(_not_a_dtype(dtype_like)) from error


def _not_a_dtype(given: object) -> str:
    if isinstance(given, str):
        return _unknown_name(given)
    if is_abstract(given):
        return f"np.{given.__name__} is a group of dtypes; give one of them, such as np.float32"
    return (
        f"not a dtype: {given!r:.80} ({type(given).__name__}); "
        'give a dtype such as "float32", np.float32 or x.dtype'
    )


def _unknown_name(name: str) -> str:
    shorts = {row.short: row.name for row in TABLE}
    wanted = name.lower().replace(" ", "")
    near = shorts.get(wanted) or max(shorts.values(), key=lambda each: _likeness(wanted, each))
    if wanted in shorts or _likeness(wanted, near) >= 0.6:
        return f"no dtype is called {name!r}; did you mean {near!r}?"
    return f"no dtype is called {name!r:.80}; the dtypes are {', '.join(shorts.values())}"


def _likeness(a: str, b: str) -> float:
    """The share of letters in a common beginning and end: 0.7 for float64 and flaot64."""
    common = len(commonprefix((a, b))) + len(commonprefix((a[::-1], b[::-1])))
    return common / max(len(a), len(b))


def is_abstract(x: object) -> TypeGuard[type]:
    """np.floating and the like: NumPy's scalar classes that mean no single dtype."""
    return isinstance(x, type) and x in _ABSTRACT and x not in _KNOWN and issubclass(x, np.generic)


def _canonical(given: Dtype) -> Dtype:
    native = given if given.isnative else given.newbyteorder("=")
    if native in ROWS:
        return ROWS[native].dtype
    _raise_foreign(given)


def _raise_foreign(dtype: Dtype) -> NoReturn:
    if dtype == float0:
        raise TypeError(
            "float0 is the type of the derivative by an integer, which has no values; leave that "
            "argument out of what is updated"
        )
    holds, way_out = _FOREIGN.get(dtype.kind, ("no such values", "convert them to numbers"))
    raise TypeError(f"arrays hold {holds}, and the dtype given is {dtype}; {way_out}")


def is_supported(dtype_like: object) -> bool:
    """Whether arrays can have this dtype.

    >>> hloom.dtypes.is_supported("int4"), hloom.dtypes.is_supported("datetime64")
    (True, False)
    """
    try:
        as_dtype(dtype_like)
    except TypeError:
        return False
    return True


#: The dtype of tangents of integers and bools: no bytes.  NumPy arrays have it, hloom's never do.
float0 = np.dtype([("float0", np.void, 0)])


# ---- 64-bit types on and off -----------------------------------------------------------------

BOOL, INT64, FLOAT64, COMPLEX128 = map(np.dtype, ("bool", "int64", "float64", "complex128"))
_NARROWED = {
    INT64: np.dtype("int32"),
    np.dtype("uint64"): np.dtype("uint32"),
    FLOAT64: np.dtype("float32"),
    COMPLEX128: np.dtype("complex64"),
}
PYTHON_SCALARS: dict[type, Dtype] = {
    bool: BOOL,
    int: INT64,
    float: FLOAT64,
    complex: COMPLEX128,
}
_KNOWN.update(PYTHON_SCALARS.items())


def canonicalize(dtype: object, x64: bool) -> Dtype:
    """The dtype that an array gets when asked for `dtype`: 64-bit ones are halved if `x64` is off.

    >>> hloom.dtypes.canonicalize("int64", x64=False), hloom.dtypes.canonicalize("int64", x64=True)
    (dtype('int32'), dtype('int64'))
    """
    canonical = as_dtype(dtype)
    return canonical if x64 else _NARROWED.get(canonical, canonical)


def narrow(value: np.ndarray[Any, Any], dtype: Dtype) -> np.ndarray[Any, Any]:
    """The array converted to the dtype that `canonicalize` gives it, and never silently wrong.

    Raises OverflowError for an integer that does not fit; a float that overflows to infinity is
    reported by NumPy's RuntimeWarning, as in any conversion of its.

    >>> hloom.dtypes.narrow(np.array([1, 2]), np.dtype("int32")).dtype
    dtype('int32')
    """
    dtype = as_dtype(dtype)
    if not isinstance(value, (np.ndarray, np.generic)):
        raise TypeError(f"narrow takes a NumPy array; got {type(value).__name__} {value!r:.60}")
    converted = value.astype(dtype)
    if dtype.kind in "iu" and np.count_nonzero(converted != value):
        lost = value[converted != value].flat[0]
        raise OverflowError(
            f"{lost} of an {value.dtype} array does not fit {dtype}, and 64-bit types are off; "
            "turn them on with `with hloom.enable_x64():`"
        )
    return converted


def default_int(x64: bool) -> Dtype:
    """The dtype of a Python int: int64, or int32 if `x64` is off."""
    return canonicalize(INT64, x64)


def default_float(x64: bool) -> Dtype:
    """The dtype of a Python float: float64, or float32 if `x64` is off."""
    return canonicalize(FLOAT64, x64)


def default_complex(x64: bool) -> Dtype:
    """The dtype of a Python complex: complex128, or complex64 if `x64` is off."""
    return canonicalize(COMPLEX128, x64)


def scalar_dtype(scalar_type: type, x64: bool) -> Dtype:
    """The dtype that a Python scalar of this type has by itself.

    >>> hloom.dtypes.scalar_dtype(float, x64=False)
    dtype('float32')
    """
    for python_type, dtype in PYTHON_SCALARS.items():
        if issubclass(scalar_type, python_type):
            return canonicalize(dtype, x64)
    raise TypeError(f"{scalar_type.__name__} is none of bool, int, float and complex")


scalar_type_of = scalar_dtype


def to_inexact(dtype: object, x64: bool) -> Dtype:
    """The dtype of `sin(x)` or `x / y`: floats and complex dtypes stay, others get the default.

    Differs from NumPy for integers of up to 16 bits, for which NumPy's `sin` gives float16 or
    float32 and its division float64: here it is one rule.

    >>> hloom.dtypes.to_inexact("int8", x64=False), hloom.dtypes.to_inexact("float16", x64=False)
    (dtype('float32'), dtype('float16'))
    """
    canonical = canonicalize(dtype, x64)
    return canonical if canonical in DOMAINS["inexact"] else default_float(x64)
