"""Transformations: forward (`jvp`), reverse (`linearize`, `transpose`), `batch`."""
