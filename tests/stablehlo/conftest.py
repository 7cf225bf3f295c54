from tests.stablehlo.verify import every_emitted_module_is_valid  # noqa: F401
