"""What primitives with Jaxprs inside have in common."""
