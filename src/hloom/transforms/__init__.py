"""Transformations of traced functions: forward (`jvp`), reverse (`linearize`, `transpose`), `batch`."""
