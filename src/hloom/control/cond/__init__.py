"""`cond` and `switch`: the primitive and the public functions."""
