from . import dgl as dgl, networkx as networkx, pyg as pyg, pymetis as pymetis
