"""Refinement around a few vertices."""
