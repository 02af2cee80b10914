"""Types that callers may pass as arrays and graphs, and conversion to arrays of a space."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, Union

import numpy as np

from portpart import backends
from portpart.errors import InputError, shown
from portpart.graphs.weights import integral

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from portpart.backends.programs import Array, ExecutionSpace


class HoldsBlocks(Protocol):
    """A result or a session, which has a block for each vertex."""

    @property
    def part(self) -> ArrayLike: ...


Blocks: TypeAlias = Union["ArrayLike", Mapping[Hashable, int], HoldsBlocks]
"""A block for each vertex, in the order of vertices or by their names."""

Numbers: TypeAlias = Union["ArrayLike", Mapping[Hashable, float]]
"""A number for each vertex, edge, net or block, in order or by names; or the name of the attribute
or column with the numbers."""


class OwnGraph(Protocol):
    """A `Graph`, a `Hypergraph` or the rows of a rank."""

    @property
    def num_vertices(self) -> int: ...


class OwnMesh(Protocol):
    """A `Mesh`."""

    @property
    def num_elements(self) -> int: ...

    @property
    def num_nodes(self) -> int: ...


class SparseMatrix(Protocol):
    """A sparse matrix of SciPy or CuPy."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def nnz(self) -> int: ...

    def tocsr(self) -> Any: ...


class Network(Protocol):
    """A graph of NetworkX, or a hypergraph of XGI or HyperNetX."""

    @property
    def nodes(self) -> Any: ...

    @property
    def edges(self) -> Any: ...


class IgraphNetwork(Protocol):
    """A graph of igraph."""

    def vcount(self) -> int: ...

    def ecount(self) -> int: ...


class Frame(Protocol):
    """A table of edges of pandas, polars or cuDF."""

    @property
    def columns(self) -> Iterable[Hashable]: ...


class PathOfFile(Protocol):
    """A path that is not a string."""

    def __fspath__(self) -> str: ...


GraphLike: TypeAlias = Union[
    "ArrayLike", OwnGraph, OwnMesh, SparseMatrix, Network, IgraphNetwork, Frame,
    Sequence[Any], Mapping[Any, Any], PathOfFile]
"""Accepted by :func:`portpart.as_graph` or :func:`portpart.as_hypergraph`; text is a path."""

MeshLike: TypeAlias = Union["ArrayLike", OwnMesh, Sequence[Any], PathOfFile]
"""Accepted by :func:`portpart.as_mesh`; text is a path."""


CUDA_DLPACK_DEVICES = (2, 13)
"""DLPack's device types for CUDA memory and CUDA managed memory."""


def space_of(values: Any) -> ExecutionSpace:
    """Return the execution space whose memory holds `values`."""
    if is_tensor(values):  # the interface of a tensor that requires grad raises
        device = values.device
        return backends.space(f"cuda:{device.index or 0}" if device.type == "cuda" else "cpu")
    if hasattr(values, "__cuda_array_interface__"):
        device = getattr(values, "device", None)
        number = getattr(device, "id", getattr(device, "index", None))
        return backends.space(f"cuda:{number or 0}")
    if hasattr(values, "__dlpack_device__") and not isinstance(values, np.ndarray):
        kind, number = values.__dlpack_device__()
        if int(kind) in CUDA_DLPACK_DEVICES:
            return backends.space(f"cuda:{number}")
    return backends.space("cpu")


def first_true(mask: ArrayLike) -> int | None:
    """Return the place of the first True in an array of the host, None if there is none."""
    flags = np.asarray(mask)
    place = int(flags.argmax()) if len(flags) else 0
    return place if len(flags) and flags[place] else None


def gpu_space_of(arrays: Sequence[Any]) -> ExecutionSpace | None:
    """Return the space of the first array that is on a GPU, None if none is."""
    spaces = (space_of(each) for each in arrays if each is not None)
    return next((space for space in spaces if space.kind == "cuda"), None)


def is_tensor(values: ArrayLike | None) -> bool:
    """Whether `values` is a tensor of PyTorch."""
    torch = sys.modules.get("torch")  # imported if the caller has a tensor
    return torch is not None and isinstance(values, torch.Tensor)


def refuse_several_devices(**given: Any) -> None:
    """Raise if tensors of PyTorch are on different devices."""
    places = {what: str(each.device) for what, each in given.items() if is_tensor(each)}
    if len(set(places.values())) > 1:
        reported = ", ".join(f"{what} on {place}" for what, place in places.items())
        raise InputError(f"tensors of one graph are on several devices, {reported}: "
                         f"tensor.to({next(iter(places.values()))!r}) copies one there")


def _refuse_tensor(tensor: Any, what: str) -> None:
    """Raise if a tensor of PyTorch is not plain numbers of the host or of a CUDA device."""
    if tensor.device.type not in ("cpu", "cuda"):
        raise InputError(f"{what}: a tensor on the device {tensor.device} is not supported, those "
                         "on cpu and cuda are: tensor.cpu() copies it")
    if str(tensor.layout) != "torch.strided":
        raise InputError(f"{what}: the tensor is sparse ({tensor.layout}); a dense one is needed: "
                         "tensor.to_dense() makes one")
    if tensor.requires_grad:
        raise InputError(f"{what}: the tensor requires grad, and partitions have no gradient: "
                         "pass tensor.detach()")
    if str(tensor.dtype) == "torch.bfloat16":
        raise InputError(f"{what}: the tensor is of type {tensor.dtype}: tensor.float() changes it")


def index_array(space: ExecutionSpace, values: Any, what: str) -> Array:
    """Return a one-dimensional int32 or int64 array of `space`; shares memory if possible."""
    array = as_array(space, values, what)
    if array.ndim != 1:
        raise InputError(f"{what} have shape {tuple(array.shape)}; a one-dimensional array is "
                         "needed")
    if array.dtype.kind not in "iu" and len(array):
        way = ": tensor.long() makes them so" if is_tensor(values) else ""
        raise InputError(f"{what} are of type {array.dtype}; they must be integers{way}")
    return integral(space, array, what)


def weight_array(space: ExecutionSpace, values: Any, count: int, of_what: str) -> Array:
    """Return edge weights as an array of `space`, after a check of their number."""
    array = as_array(space, values, "edge_weights")
    if array.ndim != 1 or len(array) != count:
        raise InputError(f"edge_weights have shape {tuple(array.shape)} for {count} {of_what}; "
                         f"shape ({count},) is needed")
    return array


def as_array(space: ExecutionSpace, values: Any, what: str) -> Array:
    """Return `values` of any array type as an array of `space`; shares memory if possible."""
    if is_tensor(values):
        _refuse_tensor(values, what)
    try:
        if space_of(values).kind == "cpu":
            values = host_array(values)
        if isinstance(values, np.ndarray) and not values.dtype.isnative:
            values = values.astype(values.dtype.newbyteorder("="))
        if isinstance(values, np.ndarray) and values.dtype == np.longdouble:
            with np.errstate(over="ignore"):
                values = values.astype(np.float64)
        return space.asarray(values)
    except (TypeError, ValueError) as problem:
        raise InputError(f"{what} cannot be read as an array: {problem}") from problem


def host_array(values: Any) -> np.ndarray:
    """Return a NumPy array of `values`; shares memory if possible, and copies from a GPU."""
    for method in ("get", "cpu"):  # of CuPy arrays, of torch tensors
        if hasattr(values, method) and hasattr(values, "__cuda_array_interface__"):
            values = getattr(values, method)()
    if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
        return np.from_dlpack(values)
    # The test for a mask comes first: NumPy imports numpy.ma at its first use.
    if hasattr(values, "mask") and isinstance(values, np.ma.MaskedArray) and values.mask.any():
        place = np.argwhere(np.ma.getmaskarray(values))[0].tolist()
        raise InputError(f"a masked array has no value in {place}; fill or drop masked entries")
    try:
        array = np.asarray(values)
        listed = array.dtype == object and array.ndim == 1
        plain = np.array(array.tolist()) if listed else array
    except (TypeError, ValueError, OverflowError, RuntimeError) as problem:  # also of tensors
        raise InputError(f"{shown(values)}: {problem}") from problem
    if array.dtype == object and array.ndim == 0 and values is not None:
        raise InputError(f"{shown(values)} is not an array; an array or a list is needed")
    if listed:  # numbers of pandas' nullable types
        array = plain if plain.dtype.kind in "biuf" and plain.ndim == 1 else array
    return array


def host_integers(values: Any) -> np.ndarray:
    """Return :func:`host_array`, as integers if it is empty: an empty list has no type."""
    array = host_array(values)
    return array if array.size else np.zeros(array.shape, np.int64)


def item_of(space: ExecutionSpace, array: Array, place: int) -> int:
    """Return one element on the host."""
    return int(space.to_host(array[place : place + 1])[0])


def has_writable_base(array: Array | None) -> bool:
    """Whether other code can write to the memory of an array; views are followed."""
    holder: Any = array
    while isinstance(holder, (np.ndarray, memoryview)):
        if isinstance(holder, np.ndarray):
            if holder.flags.writeable:
                return True
            holder = holder.base
        else:
            if not holder.readonly:
                return True
            holder = holder.obj
    if holder is None or isinstance(holder, bytes) or getattr(holder, "is_exclusive", False):
        return False
    try:
        return not memoryview(holder).readonly
    except TypeError:  # memory of a device, or of a library without this interface
        return True


def borrowed_arrays(*values: Any) -> list[np.ndarray]:
    """Return host arrays that share the memory of a caller's values."""
    return [host_array(array) for array in values
            if array is not None and not isinstance(array, (list, tuple))
            and space_of(array).kind == "cpu"]


def owned(array: Array, lent: Sequence[Array], copy: bool | None) -> Array:
    """Return `array`, read-only if it is a host array that the library owns.

    With `copy`, arrays in writable memory of `lent` are copied; without it they stay unchanged.
    None: the library owns all arrays, and parts of larger arrays are copied.
    """
    if not isinstance(array, np.ndarray):
        return array
    if copy is None:
        if has_writable_base(array.base):
            array = array.copy()
    elif any(np.may_share_memory(array, other) for other in lent) and has_writable_base(array):
        if not copy:
            return array
        array = array.copy()
    array.flags.writeable = False
    return array
