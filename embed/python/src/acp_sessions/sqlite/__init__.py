"""A store in a file, by SQLite: the same file, in the same form, as the program `acp-sessions` has (`host/src/store/sqlite`)."""

from .errors import OpenError
from .store import FileStore

__all__ = ["FileStore", "OpenError"]
