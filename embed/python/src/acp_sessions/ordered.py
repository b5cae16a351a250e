"""Keys in their order. Python compares texts by code points, which is the order of their bytes in UTF-8."""

from __future__ import annotations

from bisect import bisect_left
from typing import Generic, Iterator, Optional, TypeVar

Value = TypeVar("Value")


class Ordered(Generic[Value]):
    """A dict whose keys are at hand in their order. Not for millions: a new key moves those behind it."""

    def __init__(self) -> None:
        self._values: dict[str, Value] = {}
        self._keys: list[str] = []

    def get(self, key: str) -> Optional[Value]:
        return self._values.get(key)

    def set(self, key: str, value: Value) -> None:
        if key not in self._values:
            self._keys.insert(self.place(key), key)
        self._values[key] = value

    def delete(self, key: str) -> None:
        if key in self._values:
            del self._values[key]
            del self._keys[self.place(key)]

    def place(self, key: str) -> int:
        """How many keys come before this one."""
        return bisect_left(self._keys, key)

    def item(self, at: int) -> tuple[str, Value]:
        key = self._keys[at]
        return key, self._values[key]

    def keys(self, start: int = 0) -> Iterator[str]:
        """Keys from a place on, upwards."""
        for at in range(start, len(self._keys)):
            yield self._keys[at]

    def behind(self, after: Optional[str], limit: int) -> list[str]:
        """As many keys as that behind this one."""
        start = 0 if after is None else self.place(after)
        if start < len(self._keys) and self._keys[start] == after:
            start += 1
        return self._keys[start : start + limit]
