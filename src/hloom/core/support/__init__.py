"""What the mechanism uses: the user's lines, signatures, checks, tables of executables."""
