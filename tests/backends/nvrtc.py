"""Compiles generated CUDA C++ to PTX with NVRTC, which needs no GPU."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
from pathlib import Path
from typing import Any

import pytest

from portpart.backends.cuda_compile import OPTIONS


def library() -> Any:
    """NVRTC from the package nvidia-cuda-nvrtc or from the system; skips without."""
    found = _library()
    if found is None:
        pytest.skip("NVRTC not found: install nvidia-cuda-nvrtc")
    return found


@functools.cache
def _library() -> Any:
    for name in (*_packaged(), "libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "nvrtc64_130_0"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def _packaged() -> list[str]:
    spec = importlib.util.find_spec("nvidia")
    folders = list(spec.submodule_search_locations or []) if spec else []
    return [str(path) for folder in folders for path in Path(folder).glob("*/lib/libnvrtc.so.*")
            if "builtins" not in path.name]


def architectures() -> list[int]:
    """Compute capabilities that this NVRTC compiles for."""
    nvrtc, count = library(), ctypes.c_int()
    assert nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count)) == 0
    found = (ctypes.c_int * count.value)()
    assert nvrtc.nvrtcGetSupportedArchs(found) == 0
    return sorted(found)


def ptx(text: str, architecture: int) -> str:
    """PTX of `text`; fails with the compiler's log if there is any message in it."""
    nvrtc, program = library(), ctypes.c_void_p()
    source = text.encode()
    assert nvrtc.nvrtcCreateProgram(
        ctypes.byref(program), source, b"kernels.cu", 0, None, None) == 0
    options = [*OPTIONS, f"--gpu-architecture=compute_{architecture}"]
    given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    status = nvrtc.nvrtcCompileProgram(program, len(options), given)
    log = _read(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
    assert status == 0, f"{log}\n{text}"
    assert not log, log
    result = _read(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return result


def _read(size_of: Any, read: Any, program: ctypes.c_void_p) -> str:
    size = ctypes.c_size_t()
    assert size_of(program, ctypes.byref(size)) == 0
    buffer = ctypes.create_string_buffer(size.value)
    assert read(program, buffer) == 0
    return buffer.value.decode()
