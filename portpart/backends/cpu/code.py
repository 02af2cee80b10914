"""Machine code for this processor: LLVM's passes, object code, and how it is loaded."""

from __future__ import annotations

import threading
from contextlib import suppress
from functools import cache

import llvmlite
import llvmlite.binding as llvm

LEVEL = 3
"""LLVM's optimisation level."""

UNROLL = False
"""Rows are short: unrolled loops run no faster, and take a quarter of the time of compilation."""

_loading = threading.Lock()


def fingerprint() -> str:
    """Return what the code of a module depends on besides its text."""
    return f"{llvmlite.__version__} {llvm.get_process_triple()} {llvm.get_host_cpu_name()} " \
           f"{_features()} {LEVEL} {UNROLL}"


def object_code(text: str) -> bytes:
    """Return the object code of the LLVM module with the text `text`."""
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = _target().triple, str(_target().target_data)
    module.verify()
    _optimise(module)
    return bytes(_target().emit_object(module))


def addresses_in(code: bytes, names: list[str]) -> list[int]:
    """Load object code permanently; return the addresses of these functions in it."""
    with _loading:
        _engine().add_object_file(llvm.ObjectFileRef.from_data(code))
        _engine().finalize_object()
        return [int(_engine().get_function_address(name)) for name in names]


@cache
def _target() -> llvm.TargetMachine:
    """Return the machine of this process, with Numba's settings for code that is loaded at once."""
    with suppress(RuntimeError):
        llvm.initialize()  # newer versions raise an error
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=_features(), opt=LEVEL, jit=True,
        reloc="static" if target.name.startswith("x86") else "default", codemodel="jitdefault")


@cache
def _features() -> str:
    try:
        return str(llvm.get_host_cpu_features().flatten())
    except RuntimeError:  # LLVM does not know this processor
        return ""


@cache
def _engine() -> llvm.ExecutionEngine:
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target())


def _optimise(module: llvm.ModuleRef) -> None:
    if not hasattr(llvm, "create_pass_builder"):
        _optimise_by_old_passes(module)
        return
    tuning = llvm.create_pipeline_tuning_options(speed_level=LEVEL)
    tuning.loop_vectorization, tuning.loop_unrolling = True, UNROLL
    builder = llvm.create_pass_builder(_target(), tuning)
    builder.getModulePassManager().run(module, builder)


def _optimise_by_old_passes(module: llvm.ModuleRef) -> None:
    """Run the passes of llvmlite before version 0.44."""
    builder = llvm.create_pass_manager_builder()
    builder.opt_level, builder.loop_vectorize = LEVEL, True
    builder.disable_unroll_loops = not UNROLL
    passes = llvm.create_module_pass_manager()
    _target().add_analysis_passes(passes)
    builder.populate(passes)
    passes.run(module)
