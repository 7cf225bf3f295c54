"""Operations whose parameter is a Jaxpr: `jit`, and what is done with traced functions."""
