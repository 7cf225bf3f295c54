"""Operations that move elements: reshape, broadcast, pad, slice, concatenate."""
