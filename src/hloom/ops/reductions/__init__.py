"""Reductions: whole axes, running totals, windows."""
