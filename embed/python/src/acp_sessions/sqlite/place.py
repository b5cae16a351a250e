"""Where a store lies: its files and folders, for their owner alone whatever the umask, and whether they are still there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Optional

from ..storage import StorageError
from .errors import OpenError

# What SQLite keeps beside the file itself.
SIDES = ("-wal", "-shm", "-journal")

_OTHERS = 0o077


def in_home(path: Path) -> Path:
    """As for the program: settings have what no shell has made a home folder of."""
    first, *below = path.parts or ("",)
    if first != "~" or not below:
        return path
    try:
        return Path.home().joinpath(*below)
    except RuntimeError:
        return path


class Place:
    """The file of an open store."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._identity = _identity(path)

    def check(self) -> None:
        """That the file is still where it was: what is written into one without a name is lost."""
        if self._identity is None or _identity(self._path) != self._identity:
            raise StorageError("unavailable", "the store's file was removed or replaced")


def _identity(path: Path) -> Optional[tuple[int, int]]:
    """What tells a file from another one of the same name."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def create(file: Path) -> None:
    """Makes the file and the folders above it where they are missing."""
    try:
        _create_folder(file.parent)
        try:
            made = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return
        os.close(made)
        # The umask may have taken away what its owner needs.
        os.chmod(file, 0o600)
    except OSError as error:
        raise OpenError("create", f"cannot create the session store {file}: {error.strerror}") from error


def _create_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    _create_folder(folder.parent)
    try:
        folder.mkdir(0o700)
        os.chmod(folder, 0o700)
    except FileExistsError:
        # Another process was faster.
        if not folder.is_dir():
            raise


def narrow(file: Path) -> None:
    """Takes from the store's files what rights others have on them. SQLite gives the main file's to those that it makes."""
    if os.name != "posix":
        return
    for path in (file, *(beside(file, side) for side in SIDES)):
        try:
            mode = path.stat().st_mode
            if mode & _OTHERS:
                os.chmod(path, mode & 0o777 & ~_OTHERS)
        except FileNotFoundError:
            pass
        except OSError as error:
            said = f"others than its owner may use the session store's file {path}, and that cannot be changed: {error.strerror}"
            raise OpenError("rights", said) from error


def has_journal(file: Path) -> bool:
    """Whether there is something in the journal beside the file that is not in the file yet."""
    try:
        return beside(file, "-wal").stat().st_size > 0
    except OSError:
        return False


def beside(file: Path, side: str) -> Path:
    return file.with_name(file.name + side)
