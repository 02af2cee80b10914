"""``part_graph`` and ``part_mesh`` with the parameters and the results of PyMETIS.

Change ``import pymetis`` to ``import portpart.compat.pymetis as pymetis`` and every
``pymetis.part_graph(...)`` and ``pymetis.part_mesh(...)`` runs on portpart: on all cores or a GPU,
reproducibly, and with guaranteed balance. The other names are PyMETIS's own, except
``nested_dissection``, which portpart does not offer. Options of METIS that portpart cannot honour
raise an error; options that only tune METIS's search have no effect.
"""

from __future__ import annotations

from typing import Any, NoReturn

from pymetis import (
    CSRAdjacency,
    CType,
    DebugLevel,
    GraphPartition,
    GType,
    IPType,
    MeshPartition,
    ObjType,
    OptionKey,
    Options,
    OPType,
    PType,
    RType,
    verify_nd,
    version,
    version_tuple,
    zero_copy_dtype,
)

from portpart.compat.pymetis.graphs import part_graph, part_mesh
from portpart.errors import InputError

__all__ = [
    "CSRAdjacency",
    "CType",
    "DebugLevel",
    "GType",
    "GraphPartition",
    "IPType",
    "MeshPartition",
    "OPType",
    "ObjType",
    "OptionKey",
    "Options",
    "PType",
    "RType",
    "nested_dissection",
    "part_graph",
    "part_mesh",
    "verify_nd",
    "version",
    "version_tuple",
    "zero_copy_dtype",
]


def nested_dissection(*_: Any, **__: Any) -> NoReturn:
    """Not offered: portpart partitions graphs and does not order matrices.

    Raises
    ------
    InputError
        Always.

    Examples
    --------
    >>> import portpart.compat.pymetis as pymetis
    >>> try:
    ...     pymetis.nested_dissection([[1], [0]])
    ... except Exception as error:
    ...     print(type(error).__name__)
    InputError
    """
    raise InputError("nested_dissection is not offered: portpart partitions graphs and does not "
                     "order matrices; call pymetis.nested_dissection of PyMETIS itself")
