"""`jit`: the primitive, its dispatch, its public function and its stages."""
