"""The process that `helper` starts: it reads LLVM modules and writes object code.

It imports only LLVM, and runs as a separate file, without the package.
"""

from __future__ import annotations

import importlib.util
import signal
import struct
import sys


def main(code_file: str, packages: str) -> None:
    """Serve until the input ends; Ctrl-C is left to the process that has started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.path.append(packages)
    spec = importlib.util.spec_from_file_location("code_of_kernels", code_file)
    assert spec is not None
    assert spec.loader is not None
    code = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(code)
    write(code.fingerprint().encode())
    while head := sys.stdin.buffer.read(8):
        write(code.object_code(sys.stdin.buffer.read(*struct.unpack("<q", head)).decode()))


def write(content: bytes) -> None:
    """Write a length and this many bytes."""
    sys.stdout.buffer.write(struct.pack("<q", len(content)) + content)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
