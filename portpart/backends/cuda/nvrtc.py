"""Machine code of CUDA C++: NVRTC's options and results."""

from __future__ import annotations

import os
import tempfile
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from portpart.base.cache_folder import make_folder, warn_once
from portpart.errors import InputError, InternalError

OPTIONS = ("--fmad=false", "-std=c++17")
"""No fused multiply-add: floating-point results must be equal to those of the CPU."""

QUICK = "--Ofast-compile=min"
"""Half the compile time, for code that is 10 to 30 % slower (measured on an H200)."""

NOT_KEPT = "--no-cache"
"""NVRTC would cache code in its own folder, which one thread at a time can use."""

FIRST_WITH_BOTH = (12, 9)
"""The first version of NVRTC that knows both options."""


@dataclass(frozen=True)
class Target:
    """The kind of code.

    Attributes
    ----------
    capability : int
        Compute capability, 90 for 9.0.
    real : bool
        Whether it is machine code; otherwise it is PTX, which the driver of a newer device compiles
        when it is loaded.
    """

    capability: int
    real: bool = True

    @property
    def option(self) -> str:
        """Return NVRTC's option."""
        return f"--gpu-architecture={'sm' if self.real else 'compute'}_{self.capability}"


def nvrtc() -> ModuleType:
    """Return CuPy's binding of NVRTC, which needs no device."""
    from cupy.cuda import nvrtc as binding

    module: ModuleType = binding
    return module


@cache
def version() -> tuple[int, int]:
    """Return the version of NVRTC."""
    major, minor = nvrtc().getVersion()
    return major, minor


def target_for(capability: int) -> Target:
    """Return the target for a device, which may be newer than the compiler.

    Raises
    ------
    InputError
        If the device is too old for the compiler.
    """
    known = sorted(nvrtc().getSupportedArchs())
    if capability in known:
        return Target(capability)
    older = [each for each in known if each < capability]
    if not older:
        raise InputError(f"NVRTC {version()[0]}.{version()[1]} compiles for compute capability "
                         f"{known[0] / 10} and newer, not for {capability / 10}; the packages for "
                         "CUDA 12 do")
    return Target(older[-1], real=False)


def compiled(text: str, target: Target, quick: bool = False) -> bytes:
    """Return the code of a module; a thread that waits for the compiler lets others run.

    Raises
    ------
    InternalError
        With the compiler's messages, if it rejects the text.
    """
    open_library()
    newer = [NOT_KEPT, *([QUICK] if quick else [])] if version() >= FIRST_WITH_BOTH else []
    return _compiled(text, target, (*OPTIONS, *newer))


def open_library() -> None:
    """Compile an empty text once per process, so that NVRTC opens a library.

    If several threads open it at the same time, they may wrongly report that it is missing.
    """
    global _is_open
    with _opening:
        if not _is_open:
            _compiled("", target_for(max(nvrtc().getSupportedArchs())), ())
            _is_open = True


_opening = threading.Lock()
_is_open = False


def _compiled(text: str, target: Target, options: tuple[str, ...]) -> bytes:
    binding = nvrtc()
    program = binding.createProgram(text, "portpart.cu", (), ())
    try:
        try:
            binding.compileProgram(program, (*options, target.option))
        except binding.NVRTCError as error:
            raise InternalError(f"NVRTC: {error}\n{binding.getProgramLog(program)}") from None
        code: Any = (binding.getCUBIN if target.real else binding.getPTX)(program)
        return code if isinstance(code, bytes) else code.encode()
    finally:
        binding.destroyProgram(program)


# CuPy's cache of compiled kernels, if there is no disk space for it ----------------------------


FOLDER, IN_MEMORY = "CUPY_CACHE_DIR", "CUPY_CACHE_IN_MEMORY"

_NEEDED = 1 << 20
"""Bytes that a folder must accept: about the size of the largest kernel."""


def do_without_folder() -> None:
    """Make CuPy keep compiled kernels in memory if its folder cannot be written.

    CuPy itself would raise an error, or, for a user without a folder, make one named ``~``.
    """
    if os.environ.get(IN_MEMORY):
        return
    folder = os.environ.get(FOLDER, os.path.expanduser("~/.cupy/kernel_cache"))
    try:
        if folder.startswith("~"):
            raise FileNotFoundError("no user folder is known")
        make_folder(Path(folder))
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_NEEDED))
    except OSError as problem:
        os.environ[IN_MEMORY] = "1"
        # CuPy 14 makes its folder when it is imported, even if it keeps nothing there
        os.environ[FOLDER] = os.path.abspath(os.sep)
        warn_once("CUDA kernels", FOLDER, "" if folder.startswith("~") else folder, problem)
