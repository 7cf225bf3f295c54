"""The dtype table, what is taken for a dtype, 64-bit types on and off, questions, promotion."""

from __future__ import annotations

import enum
import warnings
from itertools import product

import ml_dtypes
import numpy as np
import pytest
from jaxlib.mlir import ir

from hloom import dtypes
from hloom.dtypes import lattice

NAMES = [row.name for row in dtypes.TABLE]
NUMPY_NAMES = [name for name in NAMES if dtypes.is_numpy(name)]
OTHER_NAMES = [name for name in NAMES if not dtypes.is_numpy(name)]
FLOATS = [name for name in NAMES if dtypes.kind(name) == "float"]
INTEGERS = [name for name in NAMES if dtypes.in_domain(name, "integer")]


# ---- the table -------------------------------------------------------------------------------


def test_every_column_of_the_table_but_kind_and_bits_tells_dtypes_apart():
    for column in ("name", "hlo", "short", "dtype"):
        assert len({getattr(row, column) for row in dtypes.TABLE}) == len(dtypes.TABLE)


@pytest.mark.parametrize("name", NAMES)
def test_the_name_is_numpys_name(name):
    assert dtypes.row(name).dtype.name == name


@pytest.mark.parametrize("name", NAMES)
def test_the_hlo_spelling_is_a_type_of_that_width_in_mlir(name):
    with ir.Context():
        parsed = ir.Type.parse(dtypes.hlo_name(name))
        width = (
            2 * ir.ComplexType(parsed).element_type.width
            if dtypes.kind(name) == "complex"
            else parsed.width
        )
    assert width == dtypes.bits(name)


@pytest.mark.parametrize("name", NAMES)
def test_bits_are_those_of_finfo_and_iinfo(name):
    match dtypes.kind(name):
        case "bool":
            assert dtypes.bits(name) == 1
        case "complex":
            assert dtypes.bits(name) == 2 * dtypes.finfo(name).bits
        case "float":
            assert dtypes.bits(name) == dtypes.finfo(name).bits
        case _:
            assert dtypes.bits(name) == dtypes.iinfo(name).bits


def test_short_names_are_those_of_jaxprs():
    given = ["bool", "int32", "uint8", "int4", "bfloat16", "float8_e4m3fn", "complex64"]
    assert list(map(dtypes.short_name, given)) == "bool i32 u8 i4 bf16 f8_e4m3fn c64".split()


def test_every_dtype_is_a_node_of_both_lattices():
    shorts = {row.short for row in dtypes.TABLE}
    for mode in lattice.MODES.values():
        assert set(mode.arrows) - set(lattice.WEAK_NAMES) == shorts


@pytest.mark.parametrize(
    ("domain", "inside", "outside"),
    [
        ("any", "bool int4 uint8 bfloat16 complex64", ""),
        ("number", "int4 uint8 bfloat16 complex64", "bool"),
        ("real", "int8 uint8 float16", "bool complex64"),
        ("inexact", "bfloat16 complex128", "int32 bool"),
        ("float", "float8_e5m2 float64", "complex64 int8"),
        ("complex", "complex64", "float32"),
        ("integer", "int2 uint64", "bool float32"),
        ("signed", "int64", "uint64 float32"),
        ("unsigned", "uint4", "int4 bool"),
        ("bool", "bool", "uint8"),
        ("bits", "bool int8 uint8", "float32"),
        ("ordered", "bool int8 float32", "complex64"),
    ],
)
def test_domains(domain, inside, outside):
    assert all(dtypes.in_domain(name, domain) for name in inside.split())
    assert not any(dtypes.in_domain(name, domain) for name in outside.split())
    assert dtypes.in_domain(dtypes.example(domain), domain)


# ---- as_dtype --------------------------------------------------------------------------------


class Weekday(enum.IntEnum):
    MONDAY = 1


class WithDtype:
    dtype = np.dtype("int16")


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("float32", "float32"),
        ("f4", "float32"),
        ("half", "float16"),
        ("bfloat16", "bfloat16"),
        (">f8", "float64"),
        (np.dtype(">i2"), "int16"),
        (np.dtype("f4", metadata={"unit": "m"}), "float32"),
        (np.longlong, "int64"),
        (np.float32, "float32"),
        (np.float32(1), "float32"),
        (ml_dtypes.bfloat16, "bfloat16"),
        (ml_dtypes.int4, "int4"),
        (np.zeros(2, ml_dtypes.float8_e5m2), "float8_e5m2"),
        (WithDtype(), "int16"),
        (WithDtype, "int16"),
        (bool, "bool"),
        (int, "int64"),
        (float, "float64"),
        (complex, "complex128"),
    ],
)
def test_as_dtype_gives_the_one_canonical_object(given, name):
    assert dtypes.as_dtype(given) is dtypes.row(name).dtype
    assert dtypes.as_dtype(given) is dtypes.as_dtype(given)
    assert dtypes.as_dtype(given).isnative


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("f32", "did you mean 'float32'"),
        ("Float16", "did you mean 'float16'"),
        ("bf16", "did you mean 'bfloat16'"),
        ("flaot64", "did you mean 'float64'"),
        ("unit8", "did you mean 'uint8'"),
        ("boool", "did you mean 'bool'"),
        ("complex 64", "did you mean 'complex64'"),
        ("tensor", "the dtypes are bool, int2"),
        ("", "the dtypes are"),
        ("i4, (", "no dtype is called"),
        (None, "got None"),
        (3, r"not a dtype: 3 \(int\)"),
        (True, "not a dtype: True"),
        (object(), "not a dtype"),
        ([1, 2], "not a dtype"),
        (np.floating, "np.floating is a group of dtypes"),
        (np.integer, "np.integer is a group of dtypes"),
        ("O", "no Python objects"),
        ("U5", "number the words first"),
        (np.dtypes.StringDType(), "number the words first"),
        ("datetime64[s]", "no dates"),
        ("timedelta64", "no durations"),
        ([("a", "f4")], "a dict of arrays"),
        (np.longdouble, "no float wider than float64"),
        (np.clongdouble, "no complex number wider than complex128"),
    ],
)
def test_what_is_not_a_dtype_raises_a_type_error_with_a_way_out(given, message):
    with pytest.raises(TypeError, match=message):
        dtypes.as_dtype(given)
    assert not dtypes.is_supported(given)


def test_a_class_may_change_its_dtype():
    class Changing:
        dtype = np.dtype("int8")

    assert dtypes.as_dtype(Changing) == "int8"
    Changing.dtype = np.dtype("int16")
    assert dtypes.as_dtype(Changing) == "int16"


# ---- 64-bit types on and off -----------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_canonicalize_halves_64_bit_types_only_when_they_are_off(name):
    halved = {"int64": "int32", "uint64": "uint32"}
    halved |= {"float64": "float32", "complex128": "complex64"}
    assert dtypes.canonicalize(name, x64=True).name == name
    assert dtypes.canonicalize(name, x64=False).name == halved.get(name, name)


@pytest.mark.parametrize(
    ("scalar_type", "on", "off"),
    [
        (bool, "bool", "bool"),
        (int, "int64", "int32"),
        (float, "float64", "float32"),
        (complex, "complex128", "complex64"),
        (Weekday, "int64", "int32"),
    ],
)
def test_python_scalars_have_default_dtypes(scalar_type, on, off):
    assert dtypes.scalar_dtype(scalar_type, x64=True) == on
    assert dtypes.scalar_dtype(scalar_type, x64=False) == off
    assert dtypes.scalar_type_of is dtypes.scalar_dtype


def test_default_dtypes():
    defaults = (dtypes.default_int, dtypes.default_float, dtypes.default_complex)
    assert [default(True).name for default in defaults] == ["int64", "float64", "complex128"]
    assert [default(False).name for default in defaults] == ["int32", "float32", "complex64"]


def test_a_type_that_is_no_python_scalar_has_no_scalar_dtype():
    with pytest.raises(TypeError, match="str is none of bool, int, float and complex"):
        dtypes.scalar_dtype(str, x64=True)


@pytest.mark.parametrize("x64", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_to_inexact_keeps_inexact_dtypes_and_gives_others_the_default_float(name, x64):
    wanted = name if dtypes.in_domain(name, "inexact") else "float64"
    assert dtypes.to_inexact(name, x64) == dtypes.canonicalize(wanted, x64)


def test_narrow_converts_what_fits():
    assert dtypes.narrow(np.array([2**31 - 1, -(2**31)]), np.dtype("int32")).tolist() == [
        2**31 - 1,
        -(2**31),
    ]
    assert dtypes.narrow(np.array(1.5, ">f8"), np.dtype("float32")) == np.float32(1.5)
    assert dtypes.narrow(np.zeros((0, 3), int), np.dtype("int32")).shape == (0, 3)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (np.array([1, 2**31]), "int32"),
        (np.uint64([2**64 - 1]), "uint32"),
        (np.array(-(2**40)), "int32"),
    ],
)
def test_narrow_never_wraps_an_integer(value, dtype):
    with pytest.raises(OverflowError, match="does not fit .*enable_x64"):
        dtypes.narrow(value, np.dtype(dtype))


def test_narrow_warns_of_a_float_that_becomes_infinite():
    with pytest.warns(RuntimeWarning, match="overflow"):
        assert np.isinf(dtypes.narrow(np.array([1e300]), np.dtype("float32")))


# ---- promotion -------------------------------------------------------------------------------

# `*` is a weak result.  These are the tables of JEP 9263.
STANDARD_X32 = """
       bool  u8    u16   u32   i8    i16   i32   bf16  f16   f32   c64   i*    f*    c*
bool   bool  u8    u16   u32   i8    i16   i32   bf16  f16   f32   c64   i32*  f32*  c64*
u8     u8    u8    u16   u32   i16   i16   i32   bf16  f16   f32   c64   u8    f32*  c64*
u16    u16   u16   u16   u32   i32   i32   i32   bf16  f16   f32   c64   u16   f32*  c64*
u32    u32   u32   u32   u32   i32   i32   i32   bf16  f16   f32   c64   u32   f32*  c64*
i8     i8    i16   i32   i32   i8    i16   i32   bf16  f16   f32   c64   i8    f32*  c64*
i16    i16   i16   i32   i32   i16   i16   i32   bf16  f16   f32   c64   i16   f32*  c64*
i32    i32   i32   i32   i32   i32   i32   i32   bf16  f16   f32   c64   i32   f32*  c64*
bf16   bf16  bf16  bf16  bf16  bf16  bf16  bf16  bf16  f32   f32   c64   bf16  bf16  c64
f16    f16   f16   f16   f16   f16   f16   f16   f32   f16   f32   c64   f16   f16   c64
f32    f32   f32   f32   f32   f32   f32   f32   f32   f32   f32   c64   f32   f32   c64
c64    c64   c64   c64   c64   c64   c64   c64   c64   c64   c64   c64   c64   c64   c64
i*     i32*  u8    u16   u32   i8    i16   i32   bf16  f16   f32   c64   i32*  f32*  c64*
f*     f32*  f32*  f32*  f32*  f32*  f32*  f32*  bf16  f16   f32   c64   f32*  f32*  c64*
c*     c64*  c64*  c64*  c64*  c64*  c64*  c64*  c64   c64   c64   c64   c64*  c64*  c64*
"""
STANDARD_X64 = """
      bool   u32    u64    i32    i64    f16    f32    f64    c64    c128   i*     f*     c*
bool  bool   u32    u64    i32    i64    f16    f32    f64    c64    c128   i64*   f64*   c128*
u32   u32    u32    u64    i64    i64    f16    f32    f64    c64    c128   u32    f64*   c128*
u64   u64    u64    u64    f64*   f64*   f16    f32    f64    c64    c128   u64    f64*   c128*
i32   i32    i64    f64*   i32    i64    f16    f32    f64    c64    c128   i32    f64*   c128*
i64   i64    i64    f64*   i64    i64    f16    f32    f64    c64    c128   i64    f64*   c128*
f16   f16    f16    f16    f16    f16    f16    f32    f64    c64    c128   f16    f16    c64
f32   f32    f32    f32    f32    f32    f32    f32    f64    c64    c128   f32    f32    c64
f64   f64    f64    f64    f64    f64    f64    f64    f64    c128   c128   f64    f64    c128
c64   c64    c64    c64    c64    c64    c64    c64    c128   c64    c128   c64    c64    c64
c128  c128   c128   c128   c128   c128   c128   c128   c128   c128   c128   c128   c128   c128
i*    i64*   u32    u64    i32    i64    f16    f32    f64    c64    c128   i64*   f64*   c128*
f*    f64*   f64*   f64*   f64*   f64*   f16    f32    f64    c64    c128   f64*   f64*   c128*
c*    c128*  c128*  c128*  c128*  c128*  c64    c64    c128   c64    c128   c128*  c128*  c128*
"""
STORAGE_X64 = """
         bool     i4       i8       f8_e5m2  f16      i*       f*       c*
bool     bool     i4       i8       f8_e5m2  f16      i64*     f64*     c128*
i4       i4       i4       -        -        -        i4       -        -
i8       i8       -        i8       f8_e5m2  f16      i8       f64*     c128*
f8_e5m2  f8_e5m2  -        f8_e5m2  f8_e5m2  -        f8_e5m2  f8_e5m2  -
f16      f16      -        f16      -        f16      f16      f16      c64
i*       i64*     i4       i8       f8_e5m2  f16      i64*     f64*     c128*
f*       f64*     -        f64*     f8_e5m2  f16      f64*     f64*     c128*
c*       c128*    -        c128*    -        c64      c128*    c128*    c128*
"""
STRICT_X32 = """
      bool  i8    i32   f16   f32   c64   i*    f*    c*
bool  bool  -     -     -     -     -     -     -     -
i8    -     i8    -     -     -     -     i8    -     -
i32   -     -     i32   -     -     -     i32   -     -
f16   -     -     -     f16   -     -     f16   f16   -
f32   -     -     -     -     f32   -     f32   f32   -
c64   -     -     -     -     -     c64   c64   c64   c64
i*    -     i8    i32   f16   f32   c64   i32*  f32*  c64*
f*    -     -     -     f16   f32   c64   f32*  f32*  c64*
c*    -     -     -     -     -     c64   c64*  c64*  c64*
"""
NODES = {row.short: row.name for row in dtypes.TABLE} | {
    "i*": "int",
    "f*": "float",
    "c*": "complex",
}


def cells(table):
    return [line.split() for line in table.strip().splitlines()]


@pytest.mark.parametrize(
    ("table", "x64", "mode"),
    [
        (STANDARD_X32, False, "standard"),
        (STANDARD_X64, True, "standard"),
        (STORAGE_X64, True, "standard"),
        (STRICT_X32, False, "strict"),
    ],
)
def test_promotion_table(table, x64, mode):
    names = [NODES[node] for node in cells(table)[0]]
    assert cells(dtypes.promotion_table(names, x64, mode)) == cells(table)


def pair(name, weak=False):
    return dtypes.as_dtype(name), weak


def test_join_of_one_pair_is_that_pair_made_canonical():
    assert dtypes.join((pair("float64", True),), x64=False) == pair("float32", True)
    assert dtypes.join((pair("int8"),)) == pair("int8")


def test_a_python_bool_is_never_weak():
    assert dtypes.join((pair("bool", True),)) == pair("bool")
    assert dtypes.pair_of(True) == dtypes.pair_of(bool) == pair("bool")


def test_the_width_of_a_weak_operand_counts_only_if_all_are_weak():
    assert dtypes.join((pair("float32", True), pair("int32", True))) == pair("float32", True)
    assert dtypes.join((pair("float32", True), pair("int32"))) == pair("float64", True)
    assert dtypes.join((pair("float64", True), pair("float16"))) == pair("float16")


def test_join_of_many_does_not_depend_on_how_they_are_grouped():
    given = (pair("uint64"), pair("int8"), pair("float16"), pair("int64", True))
    assert dtypes.join(given) == dtypes.join(given[::-1]) == pair("float16")


def test_join_takes_a_list_too():
    assert dtypes.join([pair("int8"), pair("uint8")]) == pair("int16")


def test_join_looks_up_what_it_was_asked_before():
    asked = (pair("int16"), pair("float64", True))
    first = dtypes.join(asked, False)
    assert dtypes.join((pair("int16"), pair("float64", True)), False) is first


def test_the_table_of_joins_is_bounded():
    for i in range(5000):
        bits = f"{i:013b}"
        dtypes.join(tuple(pair("int8" if bit == "1" else "int16") for bit in bits))
    assert len(dtypes.promotion._joined) <= 4096


def test_join_of_nothing_is_a_value_error_that_names_the_caller():
    with pytest.raises(ValueError, match="concatenate needs at least one array"):
        dtypes.join((), who="concatenate")
    with pytest.raises(ValueError, match="result_type needs at least one array"):
        dtypes.result_type()


def test_join_names_the_caller_first():
    with pytest.raises(TypeError, match="^add: int4 and int8 have no common dtype"):
        dtypes.join((pair("int4"), pair("int8")), who="add")


def test_an_unknown_mode_is_a_value_error():
    with pytest.raises(ValueError, match='"standard" or "strict"; got \'loose\''):
        dtypes.join((pair("int8"),), mode="loose")


@pytest.mark.parametrize(
    ("a", "b", "way_out"),
    [
        ("int4", "int8", "int8"),
        ("int4", "int32", "int32"),
        ("uint4", "uint8", "uint8"),
        ("int4", "uint4", "int16"),
        ("int2", "bfloat16", "bfloat16"),
        ("int4", "float8_e5m2", "float32"),
        ("int4", float, "float32"),
        ("float8_e5m2", "bfloat16", "bfloat16"),
        ("float8_e5m2", "float8_e4m3fn", "float32"),
        ("float8_e5m2", "complex64", "complex64"),
        ("float8_e4m3fn", complex, "complex64"),
        ("float4_e2m1fn", "float16", "float16"),
    ],
)
def test_storage_dtypes_are_not_promoted_and_the_message_tells_what_to_do(a, b, way_out):
    with pytest.raises(TypeError, match=rf"not promoted implicitly.*x\.astype\(\"{way_out}\"\)"):
        dtypes.promote_types(a, b, x64=False)


@pytest.mark.parametrize(
    ("a", "b", "way_out"),
    [
        ("int32", "float32", "float32"),
        ("int32", float, "float32"),
        (bool, int, "int32"),
        ("float32", complex, "complex64"),
    ],
)
def test_strict_promotion_explains_itself(a, b, way_out):
    with pytest.raises(TypeError, match=rf"strict mode.*\"{way_out}\".*numpy_dtype_promotion"):
        dtypes.promote_types(a, b, x64=False, mode="strict")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, ("int32", True)),
        (1.0, ("float32", True)),
        (1j, ("complex64", True)),
        (True, ("bool", False)),
        (Weekday.MONDAY, ("int32", True)),
        (float, ("float32", True)),
        ("float", ("float32", False)),
        (np.float64(1), ("float32", False)),
        (np.zeros(3, "int64"), ("int32", False)),
        (np.int8, ("int8", False)),
        (WithDtype(), ("int16", False)),
    ],
)
def test_pair_of(value, expected):
    assert dtypes.pair_of(value, x64=False) == pair(*expected)


def test_pair_of_reads_weak_type():
    class Weak:
        dtype = np.dtype("float32")
        weak_type = True

    assert dtypes.pair_of(Weak()) == pair("float32", True)


def test_result_type_is_that_of_numpy_with_python_scalars():
    assert dtypes.result_type("int8", 1) == "int8"
    assert dtypes.result_type(np.float32(1), 1.0) == "float32"
    assert dtypes.result_type(True, 1, x64=False) == "int32"
    assert dtypes.result_type(1, 2.0, np.zeros(3, "float16")) == "float16"


# ---- explain ---------------------------------------------------------------------------------


def test_explain_shows_the_way_the_reason_and_numpys_answer():
    assert dtypes.explain("int32", "float16").splitlines() == [
        "int32 + float16 -> float16",
        "  int32    i32 > i64 > f* > f16",
        "  float16  f16",
        "why: a float keeps its width beside integers of any size",
        "NumPy: float64. NumPy widens the float until it holds the integers; "
        "hloom leaves the width to you",
    ]


def test_explain_says_when_64_bit_types_are_off():
    assert dtypes.explain("uint32", "int8", x64=False).splitlines() == [
        "uint32 + int8 -> int32",
        "  uint32  u32 > i64",
        "  int8    i8 > i16 > i32 > i64",
        "why: the smallest signed dtype that holds every value of both",
        "64-bit types are off: int64 is int32",
    ]


def test_explain_a_python_scalar():
    assert dtypes.explain("int8", 1.5, x64=False).splitlines() == [
        "int8 + Python float -> float32 (weak)",
        "  int8          i8 > i16 > i32 > i64 > f*",
        "  Python float  f*",
        "why: the array is of a lower kind, so the result has the scalar's default dtype",
        "64-bit types are off: float64 is float32",
    ]


def test_explain_what_has_no_common_dtype():
    assert dtypes.explain("int4", "int8").splitlines() == [
        "int4 + int8 -> TypeError",
        "  int4  i4 (nothing above it)",
        "  int8  i8 > i16 > i32 > i64 > f* > f16 > f32 > f64 > c128",
        "why: int4 and int8 have no common dtype, since 2- and 4-bit integers are not promoted "
        'implicitly; convert one first, for example x.astype("int8")',
    ]


@pytest.mark.parametrize("mode", ["standard", "strict"])
@pytest.mark.parametrize("x64", [True, False])
def test_explain_has_an_answer_for_every_pair(x64, mode):
    operands = [*NAMES, 1, 1.0, 1j]
    for a, b in product(operands, repeat=2):
        lines = dtypes.explain(a, b, x64, mode).splitlines()
        try:
            dtype, weak = dtypes.join((dtypes.pair_of(a, x64), dtypes.pair_of(b, x64)), x64, mode)
        except TypeError:
            assert lines[0].endswith(" -> TypeError")
        else:
            assert lines[0].endswith(f" -> {dtype.name}{' (weak)' if weak else ''}")
        assert lines[3].startswith("why: ")


# ---- can_cast --------------------------------------------------------------------------------

CASTINGS = ["no", "equiv", "safe", "same_kind", "unsafe"]


@pytest.mark.parametrize("casting", CASTINGS)
def test_can_cast_is_numpys_between_numpys_dtypes(casting):
    for a, b in product(NUMPY_NAMES, repeat=2):
        assert dtypes.can_cast(a, b, casting) == np.can_cast(a, b, casting)


@pytest.mark.parametrize(
    ("a", "b", "strongest"),
    [
        ("bfloat16", "float32", "safe"),
        ("bfloat16", "complex64", "safe"),
        ("float32", "bfloat16", "same_kind"),
        ("bfloat16", "float16", "same_kind"),
        ("int8", "bfloat16", "safe"),
        ("int16", "bfloat16", "same_kind"),
        ("float8_e5m2", "float16", "safe"),
        ("float8_e4m3fn", "float16", "safe"),
        ("float8_e4m3fn", "bfloat16", "safe"),
        ("float8_e8m0fnu", "float16", "same_kind"),
        ("float8_e8m0fnu", "float32", "safe"),
        ("float4_e2m1fn", "float8_e4m3fn", "safe"),
        ("float4_e2m1fn", "float8_e4m3fnuz", "same_kind"),  # which has no -0
        ("float8_e4m3", "float8_e4m3fn", "same_kind"),  # which has no infinity
        ("int4", "int8", "safe"),
        ("int4", "float8_e4m3fn", "safe"),
        ("int4", "uint8", "unsafe"),
        ("uint4", "int4", "same_kind"),
        ("uint4", "int8", "safe"),
        ("bool", "float8_e5m2", "safe"),
        ("bool", "float8_e8m0fnu", "same_kind"),  # which has no 0
        ("bool", "int2", "safe"),
        ("bfloat16", "int32", "unsafe"),
        ("complex64", "bfloat16", "unsafe"),
        ("int4", "int4", "no"),
    ],
)
def test_can_cast_of_the_other_dtypes(a, b, strongest):
    allowed = [casting for casting in CASTINGS if dtypes.can_cast(a, b, casting)]
    assert allowed == CASTINGS[CASTINGS.index(strongest) :]


def test_can_cast_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for a, b in product(NAMES, repeat=2):
            dtypes.can_cast(a, b)


def test_a_promotion_without_integers_is_a_safe_cast():
    inexact = [name for name in NAMES if dtypes.in_domain(name, "inexact")]
    for a, b in product(inexact, repeat=2):
        try:
            promoted = dtypes.promote_types(a, b)
        except TypeError:
            continue
        assert dtypes.can_cast(a, promoted) and dtypes.can_cast(b, promoted)


@pytest.mark.parametrize("value", [True, 1, 1.0, 1j])
def test_can_cast_does_not_look_at_values(value):
    with pytest.raises(TypeError, match=rf"pass a dtype: can_cast\({type(value).__name__}, "):
        dtypes.can_cast(value, "int8")


def test_can_cast_takes_arrays_and_checks_casting():
    assert dtypes.can_cast(np.zeros(3, "int8"), "int16")
    with pytest.raises(ValueError, match="casting is one of no, equiv, safe.*got 'exact'"):
        dtypes.can_cast("int8", "int16", "exact")


# ---- finfo, iinfo ----------------------------------------------------------------------------

FINFO = (
    "bits dtype eps epsneg iexp machep max maxexp min minexp negep nexp nmant precision resolution "
    "smallest_normal smallest_subnormal tiny"
).split()


@pytest.mark.parametrize("name", FLOATS)
def test_finfo_has_numpys_attributes_and_they_fit_the_dtype(name):
    limits = dtypes.finfo(name)
    assert all(hasattr(limits, attribute) for attribute in FINFO)
    assert limits.dtype == dtypes.as_dtype(name)
    scalar = limits.dtype.type
    assert scalar(limits.max) == limits.max and np.isfinite(np.float64(limits.max))
    assert scalar(1) + scalar(limits.eps) != scalar(1)
    assert 0 < float(limits.smallest_subnormal) <= float(limits.smallest_normal)


def test_finfo_of_a_complex_dtype_is_that_of_its_parts():
    assert dtypes.finfo("complex64").dtype == "float32"
    assert dtypes.finfo(complex).dtype == "float64"


@pytest.mark.parametrize("name", INTEGERS)
def test_iinfo(name):
    limits = dtypes.iinfo(name)
    signed = dtypes.kind(name) == "signed"
    assert (limits.min, limits.max) == (
        (-(2 ** (limits.bits - 1)), 2 ** (limits.bits - 1) - 1)
        if signed
        else (0, 2**limits.bits - 1)
    )
    assert limits.dtype == dtypes.as_dtype(name)


@pytest.mark.parametrize("error", [TypeError, ValueError])
def test_finfo_and_iinfo_of_the_wrong_kind_name_the_other(error):
    with pytest.raises(error, match=r"got int4; use iinfo\('int4'\)"):
        dtypes.finfo("int4")
    with pytest.raises(error, match=r"got bfloat16; use finfo\('bfloat16'\)"):
        dtypes.iinfo("bfloat16")
    for function in (dtypes.finfo, dtypes.iinfo):
        with pytest.raises(error, match="got bool, whose only values"):
            function(bool)


# ---- issubdtype, isdtype ---------------------------------------------------------------------

GROUPS = [
    np.generic, np.number, np.integer, np.signedinteger, np.unsignedinteger, np.inexact,
    np.floating, np.complexfloating, np.flexible, np.character,
]  # fmt: skip


def test_issubdtype_is_numpys_between_numpys_dtypes():
    for a, b in product([*NUMPY_NAMES, *GROUPS], repeat=2):
        assert dtypes.issubdtype(a, b) == np.issubdtype(a, b)


@pytest.mark.parametrize("other", ["S3", "U3", "M8[s]", "m8", "O", "V4", "float128"])
def test_issubdtype_answers_for_dtypes_that_arrays_cannot_have(other):
    for b in [*NUMPY_NAMES, *GROUPS, np.str_, np.bytes_, np.object_, "U3"]:
        assert dtypes.issubdtype(other, b) == np.issubdtype(other, b)
        if isinstance(b, str):
            assert dtypes.issubdtype(b, other) == np.issubdtype(b, other)


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_the_other_dtypes_belong_to_numpys_groups(name):
    group = dtypes.KINDS[dtypes.kind(name)]
    assert dtypes.issubdtype(name, group)
    assert dtypes.issubdtype(name, np.number)
    assert dtypes.issubdtype(name, dtypes.as_dtype(name).type)
    assert not dtypes.issubdtype(name, np.complexfloating)
    assert not dtypes.issubdtype(name, float)


def test_issubdtype_of_no_dtype_is_a_type_error():
    with pytest.raises(TypeError, match="no dtype is called 'foo'"):
        dtypes.issubdtype("foo", np.floating)
    with pytest.raises(TypeError, match="not a dtype: 3"):
        dtypes.issubdtype("int8", 3)


KINDS = {
    "bool": {"bool"},
    "signed integer": {"signed"},
    "unsigned integer": {"unsigned"},
    "integral": {"signed", "unsigned"},
    "real floating": {"float"},
    "complex floating": {"complex"},
    "numeric": {"signed", "unsigned", "float", "complex"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_isdtype_knows_the_kinds_of_the_array_api(kind):
    for name in NAMES:
        assert dtypes.isdtype(name, kind) == (dtypes.kind(name) in KINDS[kind])
        if dtypes.is_numpy(name):
            assert dtypes.isdtype(name, kind) == np.isdtype(np.dtype(name), kind)


def test_isdtype_takes_dtypes_and_tuples():
    assert dtypes.isdtype("float32", "float32")
    assert dtypes.isdtype("float32", np.float32)
    assert not dtypes.isdtype("float32", np.float64)
    assert dtypes.isdtype("bfloat16", ("bool", np.dtype("int8"), "real floating"))
    assert not dtypes.isdtype("bfloat16", ())
    assert not dtypes.isdtype(np.dtype("U3"), "numeric")


@pytest.mark.parametrize("kind", ["number", ("integral", "number")])
def test_isdtype_of_an_unknown_kind_is_a_value_error(kind):
    with pytest.raises(ValueError, match="isdtype knows the kinds bool, .*got 'number'"):
        dtypes.isdtype("int8", kind)


def test_isdtype_of_what_is_no_dtype_is_a_type_error():
    with pytest.raises(TypeError, match="not a dtype: 3"):
        dtypes.isdtype(3, "numeric")


@pytest.mark.parametrize("ask", [dtypes.example, lambda name: dtypes.in_domain("int8", name)])
def test_domains_that_are_not_there_are_refused_with_those_that_are(ask):
    with pytest.raises(ValueError, match="takes one of the domains any, number, .*; got 'floats'"):
        ask("floats")
    for given in (1, None, ["float"]):
        with pytest.raises(TypeError, match="takes one of the domains any, number"):
            ask(given)


def test_narrow_takes_numpy_arrays_and_dtypes():
    with pytest.raises(TypeError, match="narrow takes a NumPy array; got list"):
        dtypes.narrow([1, 2], np.dtype("int32"))
    with pytest.raises(TypeError, match="did you mean 'int32'"):
        dtypes.narrow(np.ones(2), "int3")
    assert dtypes.narrow(np.ones(2), "int32").dtype == np.int32
