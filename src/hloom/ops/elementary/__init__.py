"""How elementary and special functions are computed: polynomials and expressions."""
