"""Fills `Array` with operators and NumPy's methods: the one place where they are attached."""

from __future__ import annotations
