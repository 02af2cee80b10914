"""Refinement of graphs whose vertices belong to several ranks."""
