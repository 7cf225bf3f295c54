"""Functions element by element."""
