"""All entries, and the functions that need none, with the reason."""

from __future__ import annotations

from tests.numpy.functions.indexing import INDEXING, ORDER
from tests.numpy.functions.methods import METHODS
from tests.numpy.functions.pointwise import POINTWISE
from tests.numpy.functions.products import APPLYING, PRODUCTS
from tests.numpy.functions.reductions import REDUCTIONS
from tests.numpy.functions.shapes import CREATION, SHAPES

FUNCTIONS = {
    **POINTWISE, **SHAPES, **CREATION, **INDEXING, **ORDER, **REDUCTIONS, **PRODUCTS, **APPLYING,
}  # fmt: skip
ENTRIES = {**FUNCTIONS, **METHODS}

DTYPES = "takes dtypes, gives a dtype or an answer about one"
TEXT = "gives text"
FILES = "reads or writes a file"
IN_PLACE = "NumPy's changes its argument"
NOT_NUMPYS = "NumPy has no such function"
OBJECT = "gives an object, not arrays"

WITHOUT = {
    "array2string": TEXT, "array_repr": TEXT, "array_str": TEXT, "einsum_path": OBJECT,
    "can_cast": DTYPES, "common_type": DTYPES, "explain_promotion": NOT_NUMPYS, "finfo": DTYPES,
    "iinfo": DTYPES, "iscomplexobj": DTYPES, "isrealobj": DTYPES, "isdtype": DTYPES,
    "issubdtype": DTYPES, "min_scalar_type": DTYPES, "promote_types": DTYPES,
    "result_type": DTYPES, "isfortran": "arrays have one layout", "isscalar": OBJECT,
    "iterable": OBJECT, "may_share_memory": "immutable arrays share nothing that matters",
    "shares_memory": "immutable arrays share nothing that matters", "from_dlpack": OBJECT,
    "fromfile": FILES, "genfromtxt": FILES, "load": FILES, "loadtxt": FILES, "save": FILES,
    "savetxt": FILES, "savez": FILES, "savez_compressed": FILES, "fill_diagonal": IN_PLACE,
    "place": IN_PLACE, "put": IN_PLACE, "put_along_axis": IN_PLACE, "minmax": NOT_NUMPYS,
    "top_k": NOT_NUMPYS, "vectorize": OBJECT,
}  # fmt: skip
