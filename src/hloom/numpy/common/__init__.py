"""What every family of functions needs: arguments, promotion, eager programs."""
