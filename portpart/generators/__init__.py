"""Graphs and hypergraphs to try things on: the same for the same arguments everywhere.

Random numbers are drawn by ``numpy.random.default_rng(seed)`` in the documented order; the default
seeds are those of the project's published measurements.  All live on the host.  Rows of graphs
that are too large for one memory are drawn by `shares`, from hashes.
"""

from __future__ import annotations

from portpart.generators import shares
from portpart.generators.airfoil import airfoil_mesh
from portpart.generators.geometric import delaunay, random_geometric, triangulation
from portpart.generators.grid import grid_2d, grid_3d
from portpart.generators.netlist import netlist
from portpart.generators.quadtree import MeshStep, moving_front
from portpart.generators.rmat import rmat
from portpart.generators.road import road_network

__all__ = [
    "MeshStep",
    "airfoil_mesh",
    "delaunay",
    "grid_2d",
    "grid_3d",
    "moving_front",
    "netlist",
    "random_geometric",
    "rmat",
    "road_network",
    "shares",
    "triangulation",
]
