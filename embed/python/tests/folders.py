"""Folders for stores, which go with their tests."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path
from typing import Callable

from acp_sessions import FileStore


# In memory where the system has such a folder: most of what a small file costs is waiting for the disk.
_MEMORY = Path("/dev/shm")


def folder(test: unittest.TestCase) -> Path:
    made = tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None)
    test.addCleanup(made.cleanup)
    return Path(made.name)


def new_stores(
    test: unittest.TestCase, kind: type[FileStore] = FileStore, *, busy_for: float = 10.0
) -> Callable[[], FileStore]:
    """Opens an empty store each time, in a file of its own."""
    within = folder(test)
    opened = 0

    def open_one() -> FileStore:
        nonlocal opened
        opened += 1
        store = kind(within / f"{opened}.db", busy_for=busy_for)
        test.addCleanup(store.close)
        return store

    return open_one
