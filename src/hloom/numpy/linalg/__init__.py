"""`hloom.numpy.linalg`: NumPy's linear algebra, as yet without decompositions.  Re-exports."""

from hloom.errors.absent import absent as _absent
from hloom.numpy.axes import matrix_transpose as matrix_transpose
from hloom.numpy.norms import LinAlgError as LinAlgError
from hloom.numpy.norms import cross as cross
from hloom.numpy.norms import diagonal as diagonal
from hloom.numpy.norms import matrix_norm as matrix_norm
from hloom.numpy.norms import matrix_power as matrix_power
from hloom.numpy.norms import multi_dot as multi_dot
from hloom.numpy.norms import norm as norm
from hloom.numpy.norms import outer as outer
from hloom.numpy.norms import tensordot as tensordot
from hloom.numpy.norms import trace as trace
from hloom.numpy.norms import vecdot as vecdot
from hloom.numpy.norms import vector_norm as vector_norm
from hloom.numpy.products import matmul as matmul

__getattr__ = _absent(__name__)
