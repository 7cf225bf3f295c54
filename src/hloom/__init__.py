"""hloom: NumPy programs traced, differentiated, vectorised and compiled through StableHLO."""

__version__ = "0.1.0"  # setup.cfg reads this line, so it stays a literal
