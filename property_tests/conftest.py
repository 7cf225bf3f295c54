from tests import environment

environment.prepare()

# Imports hloom, so it comes after.
from tests.stablehlo.verify import every_emitted_module_is_valid  # noqa: E402, F401
