"""Reductions, statistics and running totals."""
