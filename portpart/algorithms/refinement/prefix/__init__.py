"""Moves in sequence, of which the best prefix is made."""
