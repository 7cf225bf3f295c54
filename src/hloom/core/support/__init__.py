"""What the mechanism leans on: the user's lines, signatures, checks, tables of programs."""
