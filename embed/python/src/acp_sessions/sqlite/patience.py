"""
How long a store waits for other processes: each time as long as is left of a stock that time refills. A call of the engine's reads and
writes many times, and what each of these waits must not add up to the end of the call's time. Where others write all the time without
holding the store for long, each wait ends well, and there is always half of the stock for the next one: who gets on is not refused for
having waited often.
"""

from __future__ import annotations

# Seconds: however much was waited before, a store waits this long.
LEAST = 0.05


class Patience:
    def __init__(self, most: float, now: float) -> None:
        """A full stock, in seconds."""
        self._most = most
        self._left = most
        # When it was last taken from.
        self._since = now
        # The last wait ended well.
        self._gets_on = False

    def begin(self, now: float) -> float:
        """How long a wait that begins now may last."""
        self._left = min(self._most, self._left + max(0.0, now - self._since))
        self._since = now
        least = self._most / 2 if self._gets_on else LEAST
        return min(max(self._left, least), self._most)

    def end(self, now: float, well: bool) -> None:
        """The wait that began last is over; `well`: what was waited for was had."""
        self._gets_on = well
        self._left = max(0.0, self._left - max(0.0, now - self._since))
        self._since = now
