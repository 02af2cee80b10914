"""Algorithms: recipes, and the phases that they share."""
