"""The component, compiled once for this machine and kept."""

from __future__ import annotations

import hashlib
import os
import platform
import stat
import sys
import tempfile
import threading
from importlib.metadata import version
from pathlib import Path
from typing import Optional

from wasmtime import Config, Engine, WasmtimeError
from wasmtime.component import Component

from .ticker import Ticker

_DIGEST = hashlib.sha256().digest_size


class Loaded:
    """A component that is ready to be instantiated. Any number of threads may do so."""

    def __init__(self, wasm: bytes, cache: Optional[Path]) -> None:
        config = Config()
        config.epoch_interruption = True
        config.max_wasm_stack = 1 << 20
        self.engine = Engine(config)
        self.ticker = Ticker(self.engine)
        self.component = _compiled(self.engine, wasm, cache)


_loaded: dict[Optional[Path], Loaded] = {}
_loading = threading.Lock()


def load(cache: Optional[Path]) -> Loaded:
    """The engine that came with this package; compiled, unless that is in this folder. Once in a process."""
    with _loading:
        if cache not in _loaded:
            _loaded[cache] = Loaded(Path(__file__).with_name("engine.wasm").read_bytes(), cache)
        return _loaded[cache]


def usual_cache() -> Optional[Path]:
    """Where this user's programs keep what they can make again; none for a user who has no such place."""
    try:
        return _base() / "acp-sessions" / "python"
    except RuntimeError:
        return None


def _base() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _compiled(engine: Engine, wasm: bytes, cache: Optional[Path]) -> Component:
    if cache is None:
        return Component(engine, wasm)
    key = hashlib.sha256(f"{version('wasmtime')} {platform.machine()} {sys.platform} ".encode() + wasm).hexdigest()
    path = cache / f"{key}.compiled"
    kept = _read(path)
    if kept is not None:
        try:
            return Component.deserialize(engine, kept)
        except WasmtimeError:
            # One of another processor's: it is made anew.
            pass
    component = Component(engine, wasm)
    _keep(path, bytes(component.serialize()))
    return component


def _is_ours(path: Path) -> bool:
    """What is compiled runs as this user: nobody else may have written it."""
    if sys.platform == "win32":
        return True
    found = path.lstat()
    return found.st_uid == os.geteuid() and not stat.S_ISLNK(found.st_mode) and not found.st_mode & 0o022


def _read(path: Path) -> Optional[bytes]:
    """What was kept, unless it is damaged or could be somebody else's."""
    try:
        if not (_is_ours(path.parent) and _is_ours(path)):
            return None
        kept = path.read_bytes()
    except OSError:
        return None
    digest, code = kept[:_DIGEST], kept[_DIGEST:]
    return code if hashlib.sha256(code).digest() == digest else None


def _keep(path: Path, code: bytes) -> None:
    """Without it the next start takes as long again; that is all."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_ours(path.parent):
            return
        # Others may read it meanwhile: it is there as a whole or not at all.
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(hashlib.sha256(code).digest() + code)
        os.replace(file.name, path)
    except OSError:
        pass
