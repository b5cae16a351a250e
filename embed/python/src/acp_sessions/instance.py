"""One running instance of the component and the calls into it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Optional

from wasmtime import Store, WasmtimeError
from wasmtime.component import Instance as Component
from wasmtime.component import Linker, Variant

from .folders import Folders, folder_functions
from .imports import record, storage_error, storage_functions
from .known import known
from .load import Loaded
from .storage import Storage, StorageError

VERSION = "0.1.0"
CONNECTION = f"acp:sessions/connection@{VERSION}"
SESSIONS = f"acp:sessions/sessions@{VERSION}"

Now = Callable[[], float]
RandomBytes = Callable[[int], bytes]


class Lost(Exception):
    """The instance is lost: a trap, an exception of the store, a call that took too long. Nothing may be called any more."""


class Failed(Exception):
    """An error of the WIT that a function returned."""

    def __init__(self, error: Any) -> None:
        super().__init__(error.tag)
        self.error = error


@dataclass(frozen=True)
class Limits:
    """What an instance may use: bytes of memory, and seconds for a call."""

    memory: int
    seconds: int


class Instance:
    """
    A fresh instance, over this store. After a `Lost` no function of it may be called.

    `now` is the time in seconds since 1970; `random` gives as many bytes as it is asked for, which nobody can guess.
    """

    def __init__(
        self,
        loaded: Loaded,
        store: Storage,
        now: Now,
        random: RandomBytes,
        limits: Limits,
        folders: Folders = Folders(),
    ) -> None:
        self._loaded = loaded
        # A tick may come at any moment after a call has begun.
        self._ticks = limits.seconds + 1
        self._store = Store(loaded.engine)
        self._store.set_limits(memory_size=limits.memory)
        self._store.set_epoch_deadline(self._ticks)
        self._functions: dict[tuple[str, str], Any] = {}
        self._lending = lending = _Lending()
        linker = Linker(loaded.engine)
        with linker.root() as root:
            with root.add_instance(f"acp:sessions/storage@{VERSION}") as interface:
                for name, function in storage_functions(store).items():
                    interface.add_func(name, lending.lend(function))
            with root.add_instance(f"acp:sessions/folders@{VERSION}") as interface:
                for name, function in folder_functions(folders).items():
                    interface.add_func(name, lending.lend(function))
            with root.add_instance("wasi:clocks/wall-clock@0.2.12") as interface:
                interface.add_func("now", lending.lend(lambda: _datetime(now())))
            with root.add_instance("wasi:random/random@0.2.12") as interface:
                interface.add_func("get-random-bytes", lending.lend(random))
                interface.add_func("get-random-u64", lending.lend(lambda: int.from_bytes(random(8), "big")))
        self._instance: Component = self._run(lambda: linker.instantiate(self._store, loaded.component))

    def call(self, interface: str, name: str, *arguments: Any) -> Any:
        """
        Calls a function by its name in the WIT. Raises `Lost`; `Failed` where it returns an error.

        An argument of another type than the function's is a `TypeError` or a `ValueError`, and loses nothing.
        """
        function = self._functions.get((interface, name)) or self._find(interface, name)
        self._store.set_epoch_deadline(self._ticks)
        result = self._run(lambda: function(self._store, *arguments))
        # Of all results only errors are variants.
        if isinstance(result, Variant):
            raise Failed(result)
        return result

    def _find(self, interface: str, name: str) -> Any:
        inside = self._instance.get_export_index(self._store, interface)
        index = self._instance.get_export_index(self._store, name, inside)
        function = None if index is None else self._instance.get_func(self._store, index)
        if function is None:
            raise Lost(f"the component has no {interface}#{name}")
        function = self._functions[interface, name] = known(function, self._store)
        return function

    def _run(self, run: Callable[[], Any]) -> Any:
        self._lending.begin()
        try:
            with self._loaded.ticker.running():
                return run()
        except Exception as error:
            raised = self._lending.raised
            if raised is not None and not isinstance(raised, Exception):
                raise raised from None
            if isinstance(error, WasmtimeError):
                raise Lost(str(error).strip().splitlines()[-1].strip()) from error
            if not self._lending.is_used:
                # Nothing was called: an argument cannot be handed over.
                raise
            raise Lost(f"{type(error).__name__}: {error}") from error


class _Lending:
    """What happens in the imports of an instance during a call. Knows nothing of the instance, which would never be freed."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self.is_used = False
        self.raised: Optional[BaseException] = None

    def lend(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def lent(_: Any, *arguments: Any) -> Any:
            self.is_used = True
            try:
                return function(*arguments)
            except StorageError as error:
                return storage_error(error)
            except BaseException as error:
                self.raised = error
                if isinstance(error, Exception):
                    raise
                # What ends programs would get lost between the frames of the component: it is raised behind them.
                raise RuntimeError("interrupted") from error

        return lent


def _datetime(now: float) -> Any:
    nanoseconds = max(0, round(now * 1000)) * 1_000_000
    return record(seconds=nanoseconds // 1_000_000_000, nanoseconds=nanoseconds % 1_000_000_000)
