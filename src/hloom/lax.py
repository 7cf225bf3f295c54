"""The strict layer, `hloom.lax`: operations and control flow.  Re-exports only.

Strict means: no promotion of dtypes, no broadcasting of ranks.  `hloom.numpy` is the lenient layer
on top.
"""

from hloom.ops.arithmetic import *  # noqa: F403  (temporary: explicit names once the ops stand)
from hloom.ops.linear import broadcast_in_dim, reduce_sum, transpose
