"""Capture of a program into a CUDA graph with conditional nodes.

Runs of launches are captured from CuPy's calls on a private stream; loops and branches are added
between them by hand as conditional nodes of the graph being built:

    launches, test -> WHILE { launches, test } -> launches, test -> IF { } -> IF { } -> launches

where ``test`` is a kernel that sets the node's condition from the program's flag.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from portpart.backends.cuda.compile import KernelCache
from portpart.backends.cuda.cpp_words import TYPES
from portpart.backends.cuda.words import SET_CONDITION
from portpart.backends.programs import (
    Branch,
    Counters,
    Element,
    Launch,
    Program,
    Step,
    While,
)
from portpart.errors import InternalError

if TYPE_CHECKING:
    from cuda.bindings.runtime import (
        cudaGraph_t,
        cudaGraphConditionalHandle,
        cudaGraphConditionalNodeType,
        cudaGraphExec_t,
        cudaGraphNode_t,
    )
    from cupy import cuda, ndarray
    from cupy.cuda import Function, Stream
    from numpy.typing import ArrayLike, DTypeLike

    Nodes = list[cudaGraphNode_t]
    Handles = list[cudaGraphConditionalHandle]
    LaunchCall = Callable[[], None]

# Ways to run a program on CUDA, and what a program needs of its device -------------------------


RESIDENT, GRAPH, WALK = "resident", "graph", "walk"


class Device(Protocol):
    """The part of the CUDA space that programs use."""

    cupy: ModuleType
    device_id: int
    multiprocessors: int
    kernels: KernelCache
    counters: Counters
    program_mode: str
    profiling: bool

    def active(self) -> AbstractContextManager[cuda.Device]:
        """Context in which this device is CuPy's current one."""

    def current_stream(self) -> Stream:
        """CuPy's current stream of the calling thread."""

    def empty(self, n: int, dtype: DTypeLike) -> ndarray:
        """Uninitialised array of `n` elements."""

    def zeros(self, n: int, dtype: DTypeLike) -> ndarray:
        """Array of `n` zeros."""

    def asarray(self, values: ArrayLike, dtype: DTypeLike | None = None) -> ndarray:
        """`values` as a contiguous array of this device."""

    def address_of(self, array: ndarray) -> int:
        """Where an array begins that a kernel on this device can read; any other is refused."""


# Capture of a program into a CUDA graph with conditional nodes ---------------------------------
#
# Runs of launches are captured from CuPy's calls on a private stream; loops and branches are added
# between them by hand as conditional nodes of the graph being built:
#
#     launches, test -> WHILE { launches, test } -> launches, test -> IF { } -> IF { } -> launches
#
# where ``test`` is a kernel that sets the node's condition from the program's flag.


OLDEST_DRIVER = 12040
"""Conditional nodes with both kinds of body came with CUDA 12.4."""

REGISTERS = 4
"""Number of the attribute that says how many registers a function takes."""

_capturing = threading.Lock()
_condition_kernels: dict[int, Function] = {}


class Recorded(Protocol):
    """What a graph is made of: a program whose launches are compiled."""

    space: Device
    program: Program
    functions: dict[int, Function]
    flags: dict[Element, int]
    table: ndarray

    def launch_step(self, step: Launch, small: bool) -> None:
        """Launch one step on the current stream."""


def missing_for_graphs(cupy: ModuleType) -> str | None:
    """What keeps programs from running as graphs here; None if nothing does."""
    try:
        from cuda.bindings import runtime
    except Exception as error:
        return f"cuda.bindings cannot be imported: {error}"
    if not hasattr(runtime, "cudaGraphConditionalHandleCreate"):
        return "this cuda.bindings knows no conditional nodes"
    driver = cupy.cuda.runtime.driverGetVersion()
    if driver < OLDEST_DRIVER:
        return f"the driver supports CUDA {driver // 1000}.{driver % 1000 // 10}, not 12.4"
    return None


def capture(executable: Recorded, small: bool) -> CudaGraph:
    """Build the graph of a program for the small or the full grid."""
    with _capturing:
        builder = _Builder(executable, small)
        builder.steps(builder.graph, [], executable.program.steps, None)
        return CudaGraph(builder.graph)


class CudaGraph:
    """An instantiated graph."""

    def __init__(self, graph: cudaGraph_t) -> None:
        from cuda.bindings import runtime

        self._executable = checked(runtime.cudaGraphInstantiate(graph, 0))
        self._launch = runtime.cudaGraphLaunch
        finalizer = weakref.finalize(self, _destroy, runtime, graph, self._executable)
        finalizer.atexit = False

    def launch(self, stream: Stream) -> None:
        """Start the graph on a stream of CuPy's."""
        checked(self._launch(self._executable, stream.ptr))


def _destroy(runtime: ModuleType, graph: cudaGraph_t, executable: cudaGraphExec_t) -> None:
    runtime.cudaGraphExecDestroy(executable)
    runtime.cudaGraphDestroy(graph)


def checked(answer: tuple[Any, ...]) -> Any:
    """The results in a runtime call's answer, after a examine its error code."""
    if int(answer[0]) != 0:
        raise InternalError(f"CUDA graph: {answer[0]}")
    return answer[1] if len(answer) == 2 else answer[1:]


class _Builder:
    """Builds one graph; `deps` is always the list of nodes that the next one must follow."""

    def __init__(self, executable: Recorded, small: bool) -> None:
        from cuda.bindings import runtime

        self.runtime = runtime
        self.executable = executable
        self.small = small
        self.cupy = executable.space.cupy
        self.stream = self.cupy.cuda.Stream(non_blocking=True)
        self.set_condition = _condition_kernel(self.cupy, executable.space.device_id)
        for function in executable.functions.values():
            _load(function)  # which a capture must not
        self.graph = checked(runtime.cudaGraphCreate(0))

    def steps(self, graph: cudaGraph_t, deps: Nodes, steps: list[Step],
              last: LaunchCall | None) -> None:
        """Add `steps` to `graph`, then the test `last` of the loop around them."""
        waiting: list[LaunchCall] = []
        for step in steps:
            if isinstance(step, Launch):
                waiting.append(self._launch(step))
                continue
            assert isinstance(step, (While, Branch)), "segments do not communicate"
            sides = 2 if isinstance(step, Branch) and step.orelse else 1
            handles = [self._handle() for _ in range(sides)]
            waiting.append(self._test(step, handles))
            deps = self._captured(graph, deps, waiting)
            waiting = []
            if isinstance(step, While):
                deps = self._loop(graph, deps, step, handles)
            else:
                deps = self._branch(graph, deps, step, handles)
        if last is not None:
            waiting.append(last)
        if waiting:
            self._captured(graph, deps, waiting)

    def _loop(self, graph: cudaGraph_t, deps: Nodes, step: While, handles: Handles) -> Nodes:
        kind = self.runtime.cudaGraphConditionalNodeType.cudaGraphCondTypeWhile
        node, body = self._conditional(graph, deps, kind, handles[0])
        self.steps(body, [], step.steps, self._test(step, handles))
        return [node]

    def _branch(self, graph: cudaGraph_t, deps: Nodes, step: Branch, handles: Handles) -> Nodes:
        kind = self.runtime.cudaGraphConditionalNodeType.cudaGraphCondTypeIf
        for handle, side in zip(handles, (step.then, step.orelse), strict=False):
            node, body = self._conditional(graph, deps, kind, handle)
            self.steps(body, [], side, None)
            deps = [node]
        return deps

    def _launch(self, step: Launch) -> LaunchCall:
        return lambda: self.executable.launch_step(step, self.small)

    def _test(self, step: While | Branch, handles: Handles) -> LaunchCall:
        """A launch that sets the conditions behind `handles` from the step's flag."""
        position = self.executable.flags[step.flag]
        entry = np.uint64(self.executable.table.data.ptr + 8 * position)
        first, other = (np.uint64(int(handle)) for handle in (handles[0], handles[-1]))
        given = (entry, first, other, np.uint32(len(handles)))
        return lambda: self.set_condition((1,), (1,), given)

    def _handle(self) -> cudaGraphConditionalHandle:
        assign_default = 1
        return checked(
            self.runtime.cudaGraphConditionalHandleCreate(self.graph, 0, assign_default)
        )

    def _conditional(self, graph: cudaGraph_t, deps: Nodes, kind: cudaGraphConditionalNodeType,
                     handle: cudaGraphConditionalHandle) -> tuple[cudaGraphNode_t, cudaGraph_t]:
        """Add a conditional node; returns it and the graph of its body."""
        runtime = self.runtime
        parameters = runtime.cudaGraphNodeParams()
        parameters.type = runtime.cudaGraphNodeType.cudaGraphNodeTypeConditional
        parameters.conditional.handle = handle
        parameters.conditional.type = kind
        parameters.conditional.size = 1
        try:
            answer = runtime.cudaGraphAddNode(graph, deps, None, len(deps), parameters)
        except TypeError:  # before version 13 there was no edge data
            answer = runtime.cudaGraphAddNode(graph, deps, len(deps), parameters)
        return checked(answer), parameters.conditional.phGraph_out[0]

    def _captured(self, graph: cudaGraph_t, deps: Nodes, launches: list[LaunchCall]) -> Nodes:
        """Capture `launches` into `graph` behind `deps`; returns the last node as a list."""
        runtime, stream = self.runtime, self.stream.ptr
        mode = runtime.cudaStreamCaptureMode.cudaStreamCaptureModeRelaxed
        checked(runtime.cudaStreamBeginCaptureToGraph(
            stream, graph, deps or None, None, len(deps), mode))
        try:
            with self.stream:
                for launch in launches:
                    launch()
            info = getattr(runtime, "cudaStreamGetCaptureInfo_v2", None)
            answer = checked((info or runtime.cudaStreamGetCaptureInfo)(stream))
        finally:
            ended = runtime.cudaStreamEndCapture(stream)
        checked(ended)
        # The dependencies are the first list among the answers, in every version.
        return list(next(item for item in answer if isinstance(item, (list, tuple))))


def _load(function: Function) -> None:
    """Load a function, which otherwise happens when it is first launched."""
    from cupy_backends.cuda.api import driver

    driver.funcGetAttribute(REGISTERS, function.ptr)


def _condition_kernel(cupy: ModuleType, device: int) -> Function:
    if device not in _condition_kernels:
        module = cupy.RawModule(code=TYPES + SET_CONDITION)
        _condition_kernels[device] = module.get_function("set_condition")
        _condition_kernels[device].num_regs  # noqa: B018 (loads it)
    return _condition_kernels[device]
