"""Refinement of hypergraphs: nets in place of arcs."""
