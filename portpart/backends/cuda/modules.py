"""Modules of CUDA C++, compiled in threads and kept in the cache folder.

A module is identified by all that its text depends on, so that a cached module needs no text. Texts
that are requested together are combined into modules of moderate length: NVRTC takes 20 ms to begin
with each module, during which no other thread compiles, and no more threads work than there are
modules.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from portpart.backends.cuda.nvrtc import OPTIONS, QUICK, compiled, target_for
from portpart.backends.cuda.workers import LATER, NOW, WRITING, Task
from portpart.backends.language.fingerprint import compilers_fingerprint
from portpart.base import cache_folder

ENOUGH = {False: 15_000, True: 30_000}
"""Minimum characters of a module; more for a fast compilation, which takes half a second for each
module, and a call needs some twenty.
"""

ELSEWHERE = b"portpart: in "
"""Beginning of a file that names another file, which has the code of this part among others."""

Text = Callable[[], str]


class Modules:
    """The modules for a kind of device. Thread-safe.

    Parameters
    ----------
    capability : int
        Compute capability, 90 for 9.0.
    compiler : str
        The version of CuPy, which contains NVRTC.

    Attributes
    ----------
    quick : bool
        Whether programs may run before their resident kernels are compiled.
    """

    def __init__(self, capability: int, compiler: str) -> None:
        self.capability, self.compiler = capability, compiler
        self.quick = True
        self._codes: dict[str, Code] = {}
        self._shared: dict[str, bytes | None] = {}
        self._lock = threading.Lock()

    def request(self, words: str, text: Text, quick: bool = False, later: bool = False) -> Code:
        """Return the code of a module, which is compiled in threads unless it is cached.

        Parameters
        ----------
        words : str
            Everything that its text depends on, besides the compilers.
        text : callable
            Returns the text.
        quick : bool
            Whether the compiler may save time.
        later : bool
            Whether no caller waits for it.
        """
        self.request_together([(words, text)], "", quick, later)
        return self._codes[self.file_of(words, quick)]

    def request_together(self, parts: Iterable[tuple[str, Text]], head: str, quick: bool,
                     later: bool = False) -> None:
        """Request parts, several in a module after `head`; `request` returns the code of each."""
        with self._lock:
            missing = {self.file_of(words, quick): text for words, text in parts
                       if self._kept(words, quick) is None}
            if not missing:
                return
            size = 0 if later else len(missing)
            writing = WRITING.submit(lambda: self._write(missing, head, quick, later), size)
            for file in missing:
                self._codes[file] = Code(None, file, writing)

    def kept(self, words: str) -> Code | None:
        """Return the code of a module if it is cached or has been requested."""
        with self._lock:
            return self._kept(words, False)

    def requested(self) -> list[Code]:
        """Return all code that has been requested."""
        with self._lock:
            return list(self._codes.values())

    def file_of(self, words: str, quick: bool) -> str:
        """Return the name of the file of a module, or of a part of one."""
        how = [*OPTIONS, *([QUICK] if quick else [])]
        return cache_folder.file_of(f"sm_{self.capability}",
                                    f"{self.compiler} {compilers_fingerprint()} {how} {words}")

    def _kept(self, words: str, quick: bool) -> Code | None:
        file = self.file_of(words, quick)
        if file not in self._codes and (content := self._read(file)) is not None:
            self._codes[file] = Code(content)
        return self._codes.get(file)

    def _read(self, file: str) -> bytes | None:
        content = cache_folder.read(file)
        if content is None or not content.startswith(ELSEWHERE):
            return content
        shared = content[len(ELSEWHERE):].decode()
        if shared not in self._shared:
            self._shared[shared] = cache_folder.read(shared)
        return self._shared[shared]

    def _write(self, parts: dict[str, Text], head: str, quick: bool,
               later: bool) -> dict[str, Task[bytes]]:
        """Write the texts of parts, and compile modules of them while other texts are written."""
        tasks: dict[str, Task[bytes]] = {}
        waiting: dict[str, str] = {}
        for number, (file, text) in enumerate(parts.items(), 1):
            waiting[file] = text()
            if sum(map(len, waiting.values())) > ENOUGH[quick] or number == len(parts):
                tasks |= self._submit(waiting, head, quick, later)
                waiting = {}
        return tasks

    def _submit(self, texts: dict[str, str], head: str, quick: bool,
                later: bool) -> dict[str, Task[bytes]]:
        files, text = list(texts), head + "\n".join(texts.values())

        def make() -> bytes:
            code = compiled(text, target_for(self.capability), quick)
            self._keep(files, code)
            return code

        return dict.fromkeys(files, (LATER if later else NOW).submit(make, len(text)))

    def _keep(self, files: list[str], code: bytes) -> None:
        if len(files) == 1:
            cache_folder.write(files[0], code)
            return
        shared = cache_folder.file_of(f"sm_{self.capability}", " ".join(files))
        cache_folder.write(shared, code)
        for file in files:
            cache_folder.write(file, ELSEWHERE + shared.encode())


class Code:
    """Code of a module, or of a part of one, when it is available.

    Parameters
    ----------
    content : bytes, optional
        The cached code.
    file : str
        Its name in the cache folder.
    writing : Task, optional
        Writes texts, and returns the tasks that compile them, by their files.
    """

    def __init__(self, content: bytes | None, file: str = "",
                 writing: Task[dict[str, Task[bytes]]] | None = None) -> None:
        self._content, self._file, self._writing = content, file, writing

    @property
    def is_there(self) -> bool:
        """Whether it is available without waiting."""
        if self._writing is None:
            return True
        written = self._writing.future
        return written.done() and written.result()[self._file].future.done()

    def wait(self) -> bytes:
        """Return the code; from now on it is compiled before all others."""
        if self._content is None:
            assert self._writing is not None
            self._content = NOW.wait(WRITING.wait(self._writing)[self._file])
            self._writing = None
        return self._content
