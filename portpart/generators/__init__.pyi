from . import shares as shares
from .drawn_edges import rmat as rmat
from .geometric import (
    delaunay as delaunay,
    grid_2d as grid_2d,
    grid_3d as grid_3d,
    random_geometric as random_geometric,
    triangulation as triangulation,
)
from .meshes import (
    MeshStep as MeshStep,
    airfoil_mesh as airfoil_mesh,
    moving_front as moving_front,
)
from .netlist import netlist as netlist
from .road import road_network as road_network
