"""`while_loop`, `scan` and the loops made of them."""
