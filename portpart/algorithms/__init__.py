"""Recipes over shared phases, and the tables that name them."""
