"""What every family of operations is made of: expressions, elementwise rows, linear operations."""
