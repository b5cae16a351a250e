"""
A store that could only be opened for reading, because there was no room for what SQLite writes beside it, is opened to write as soon as
there is: others may write to it from then on, which who only reads does not see.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Optional

import apsw

from .opening import again_to_write

# Seconds after an attempt until it is tried again, when the store is next used.
AGAIN = 1.0


class AwaitingRoom:
    def __init__(self, file: Path, busy_for: float) -> None:
        """It was tried just now."""
        self._file = file
        self._busy_for = busy_for
        self._tried = time.monotonic()

    def is_due(self) -> bool:
        return time.monotonic() - self._tried >= AGAIN

    def opened(self) -> Optional[apsw.Connection]:
        """To write, if that can be by now."""
        self._tried = time.monotonic()
        return again_to_write(self._file, self._busy_for)
