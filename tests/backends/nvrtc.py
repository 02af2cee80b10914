"""Compiles generated CUDA C++ to PTX with NVRTC, which needs no GPU."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from portpart.backends.cuda.nvrtc import OPTIONS
from portpart.backends.cuda.translate import Translation
from portpart.backends.cuda.words import CUDA_PRELUDE

OLDEST = 70
"""The oldest compute capability that the library supports."""

QUICK = ("--Ofast-compile=max",)
"""Optimise little: a third of the time for the same messages.  NVRTC knows it from 12.9 on."""

TOGETHER = 64
"""At most so many kernels are in one text."""

DEPRECATED = "are deprecated and may be removed"
"""What NVRTC 12 says of all architectures before 75."""


def architectures() -> list[int]:
    """Compute capabilities to compile for, with any NVRTC here; skips without one."""
    found = sorted(_compilers())
    if not found:
        pytest.skip("NVRTC not found: install nvidia-cuda-nvrtc")
    return found


@functools.cache
def _compilers() -> dict[int, Any]:
    """An NVRTC for each compute capability, from packages or from the system."""
    names = _packaged() or ["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "nvrtc64_130_0"]
    compilers: dict[int, Any] = {}
    for name in names:
        try:
            nvrtc = ctypes.CDLL(name)
        except OSError:
            continue
        compilers = {**dict.fromkeys(_supported_by(nvrtc), nvrtc), **compilers}
    return {capability: nvrtc for capability, nvrtc in compilers.items() if capability >= OLDEST}


def _packaged() -> list[str]:
    spec = importlib.util.find_spec("nvidia")
    folders = list(spec.submodule_search_locations or []) if spec else []
    return [str(path) for folder in folders for path in Path(folder).glob("*/lib/libnvrtc.so.*")
            if "builtins" not in path.name]


def _version(nvrtc: Any) -> tuple[int, int]:
    major, minor = ctypes.c_int(), ctypes.c_int()
    assert nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)) == 0
    return major.value, minor.value


def _supported_by(nvrtc: Any) -> list[int]:
    count = ctypes.c_int()
    assert nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count)) == 0
    found = (ctypes.c_int * count.value)()
    assert nvrtc.nvrtcGetSupportedArchs(found) == 0
    return list(found)


def module_text(translations: Iterable[Translation]) -> str:
    """One translation unit with each of `translations` once."""
    texts = dict.fromkeys(translation.text for translation in translations)
    return "\n".join([CUDA_PRELUDE, *texts])


def compile_quickly(translations: Iterable[Translation], architecture: int) -> None:
    """Fail if there is any message about a translation; each is compiled once.

    A few together share the prelude.  NVRTC 13 takes twice as long for 300 in one text as in five.
    Teams of every width are in each text, as it complains of names of the prelude without use.
    """
    each_once = list({found.text: found for found in translations}.values())
    texts = -(-len(each_once) // TOGETHER)
    for first in range(texts):
        ptx(module_text(each_once[first::texts]), architecture, quick=True)


def ptx(text: str, architecture: int, quick: bool = False) -> str:
    """PTX of `text`; fails with the compiler's log if there is any message in it.

    It is compiled as the library does it, or `quick`, where what matters is whether it compiles.
    """
    architectures()
    nvrtc, program = _compilers()[architecture], ctypes.c_void_p()
    source = text.encode()
    assert nvrtc.nvrtcCreateProgram(
        ctypes.byref(program), source, b"kernels.cu", 0, None, None) == 0
    options = [*OPTIONS, f"--gpu-architecture=compute_{architecture}"]
    if quick and _version(nvrtc) >= (12, 9):
        options += QUICK
    given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    status = nvrtc.nvrtcCompileProgram(program, len(options), given)
    log = _read(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
    assert status == 0, f"{log}\n{text}"
    complaints = [line for line in log.splitlines() if line.strip() and DEPRECATED not in line]
    assert not complaints, log
    result = _read(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return result


def _read(size_of: Any, read: Any, program: ctypes.c_void_p) -> str:
    size = ctypes.c_size_t()
    assert size_of(program, ctypes.byref(size)) == 0
    buffer = ctypes.create_string_buffer(size.value)
    assert read(program, buffer) == 0
    return buffer.value.decode()
