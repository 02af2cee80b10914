"""Modules of CUDA C++: compiled in threads, kept in the cache folder.

A module is known by what its text depends on, so that one that is kept needs no text.  Texts that
are requested together share modules of a moderate length: NVRTC takes 20 ms to begin with each, in
which no other thread compiles, and threads have no more to do at once than there are modules.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from portpart.backends.cuda.nvrtc import OPTIONS, QUICK, compiled, target_for
from portpart.backends.cuda.workers import LATER, NOW, WRITING, Task
from portpart.backends.language.fingerprint import compilers_fingerprint
from portpart.base import cache_folder

ENOUGH = {False: 15_000, True: 30_000}
"""Characters of parts that make a module, more for a compiler in a hurry: it takes half a second
for one, and a call needs some twenty."""

ELSEWHERE = b"portpart: in "
"""What a file begins with that names another, which has the code of this part among others."""

Text = Callable[[], str]


class Modules:
    """The modules for a kind of device; safe to use from several threads.

    Parameters
    ----------
    capability : int
        Compute capability, 90 for 9.0.
    compiler : str
        The version of CuPy, with which NVRTC comes.

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

    def ask(self, words: str, text: Text, quick: bool = False, later: bool = False) -> Code:
        """The code of a module, which is compiled in threads unless it is kept.

        Parameters
        ----------
        words : str
            All that its text depends on, besides the compilers.
        text : callable
            Makes the text.
        quick : bool
            Whether the compiler may hurry.
        later : bool
            Whether no caller waits for it.
        """
        self.ask_together([(words, text)], "", quick, later)
        return self._codes[self.file_of(words, quick)]

    def ask_together(self, parts: Iterable[tuple[str, Text]], head: str, quick: bool,
                     later: bool = False) -> None:
        """Have parts compiled, several in a module behind `head`; `ask` has the code of each."""
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
        """The code of a module if it is kept, or has been asked for."""
        with self._lock:
            return self._kept(words, False)

    def asked(self) -> list[Code]:
        """All that has been asked for."""
        with self._lock:
            return list(self._codes.values())

    def file_of(self, words: str, quick: bool) -> str:
        """Name of the file of a module, or a part of one."""
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
        """Write the text of parts, and have modules of them compiled, while others are written."""
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
    """Code of a module, or a part of one, when it is there.

    Parameters
    ----------
    content : bytes, optional
        What has been kept.
    file : str
        Its name in the cache folder.
    writing : Task, optional
        Writes texts, and gives the tasks that compile them by their files.
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
        """The code, which is made before all others now."""
        if self._content is None:
            assert self._writing is not None
            self._content = NOW.wait(WRITING.wait(self._writing)[self._file])
            self._writing = None
        return self._content
