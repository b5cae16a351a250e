"""The session layer of the Agent Client Protocol, as a WebAssembly component with a storage of your own."""

from .engine import Engine
from .exchange import Arrival, EngineError, Output, Peer, Refused, Step
from .folders import Folders, Repository
from .memory import MemoryStore
from .sessions import ListCriteria, Session, Sessions
from .sqlite import FileStore, OpenError
from .storage import Storage, StorageError

__all__ = [
    "Arrival",
    "Engine",
    "EngineError",
    "FileStore",
    "Folders",
    "ListCriteria",
    "MemoryStore",
    "OpenError",
    "Output",
    "Peer",
    "Refused",
    "Repository",
    "Session",
    "Sessions",
    "Step",
    "Storage",
    "StorageError",
]
