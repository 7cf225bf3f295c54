"""`custom_root` and `custom_linear_solve`."""
