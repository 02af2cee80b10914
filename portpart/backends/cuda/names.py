"""C++ names for the names of a kernel: the same, unless C++ or our prelude uses them."""

from __future__ import annotations

import re

_RESERVED = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
    char32_t class compl concept const consteval constexpr constinit const_cast continue co_await
    co_return co_yield decltype default delete do double dynamic_cast else enum explicit export
    extern false final float for friend goto if import inline int long module mutable namespace new
    noexcept not not_eq nullptr operator or or_eq override private protected public register
    reinterpret_cast requires return short signed sizeof static static_assert static_cast struct
    switch template this thread_local throw true try typedef typeid typename typeof union unsigned
    using virtual void volatile wchar_t while xor xor_eq
    int8 int32 int64 uint8 uint32 uint64 float32 float64 pp std main TEAM body item row count
    threadIdx blockIdx blockDim gridDim warpSize NULL
    """.split()
)


class NameTable:
    """Gives every Python name a distinct C++ name."""

    def __init__(self, reserved: frozenset[str] = frozenset()) -> None:
        self._given: dict[str, str] = {}
        self._taken = set(_RESERVED | reserved)

    def __call__(self, name: str, preferred: str | None = None) -> str:
        """The C++ name of `name`, always the same; like `preferred` if that is given."""
        if name not in self._given:
            self._given[name] = self.fresh(preferred or name)
        return self._given[name]

    def fresh(self, preferred: str) -> str:
        """A C++ name like `preferred` that nothing else has."""
        text = re.sub(r"[^0-9A-Za-z_]", lambda match: f"u{ord(match[0]):x}", preferred)
        text = re.sub("__+", "_", text)
        if re.match("_[A-Z]", text):
            text = f"v{text}"
        while text in self._taken:
            text += "_"
        self._taken.add(text)
        return text
