"""The clock that stops calls which do not end."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import Iterator

from wasmtime import Engine

# Seconds, the unit of a call's deadline.
TICK = 1.0


class Ticker:
    """A thread that advances the epoch every second while a call runs, and sleeps while none does."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._running = 0
        self._begun = threading.Condition()
        self._thread: threading.Thread | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """A call is under way."""
        with self._begun:
            self._running += 1
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._tick, name="acp-sessions", daemon=True)
                self._thread.start()
            elif self._running == 1:
                self._begun.notify()
        try:
            yield
        finally:
            with self._begun:
                self._running -= 1

    def _tick(self) -> None:
        while True:
            with self._begun:
                self._begun.wait_for(lambda: self._running > 0)
            time.sleep(TICK)
            self._engine.increment_epoch()
