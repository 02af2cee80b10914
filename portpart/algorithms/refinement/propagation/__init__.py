"""Jet's label propagation."""
