"""Functions that move elements: axes, joining, splitting."""
