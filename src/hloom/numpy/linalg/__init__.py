"""`hloom.numpy.linalg`: NumPy's linear algebra, as yet without decompositions."""

from hloom.errors.absent import absent as _absent
from hloom.numpy.linalg.norms import LinAlgError as LinAlgError
from hloom.numpy.linalg.norms import cross as cross
from hloom.numpy.linalg.norms import diagonal as diagonal
from hloom.numpy.linalg.norms import matrix_norm as matrix_norm
from hloom.numpy.linalg.norms import matrix_power as matrix_power
from hloom.numpy.linalg.norms import multi_dot as multi_dot
from hloom.numpy.linalg.norms import norm as norm
from hloom.numpy.linalg.norms import outer as outer
from hloom.numpy.linalg.norms import tensordot as tensordot
from hloom.numpy.linalg.norms import trace as trace
from hloom.numpy.linalg.norms import vecdot as vecdot
from hloom.numpy.linalg.norms import vector_norm as vector_norm
from hloom.numpy.products.products import matmul as matmul
from hloom.numpy.shapes.axes import matrix_transpose as matrix_transpose

__getattr__ = _absent(__name__)
