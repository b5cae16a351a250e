"""The store in a file keeps the contract of storages, what it may cost included, and one that does not is found."""

import unittest
from typing import Any, Callable, Optional

from acp_sessions import FileStore, Storage
from acp_sessions.storage import Durability, Expectation, TextHit, TextScope, TextTerm, Write
from contract import STATES, cases, contract
from folders import new_stores
from states import turns


def work(store: Storage, run: Callable[[], Any]) -> int:
    """How many steps SQLite's virtual machine takes: those of the statements that its text index runs by itself are counted too."""
    assert isinstance(store, FileStore)
    count = 0

    def step() -> bool:
        nonlocal count
        count += 1
        return False

    store._connection.set_progress_handler(step, 1)
    try:
        run()
    finally:
        store._connection.set_progress_handler(None)
    return count


class Searching(FileStore):
    """Goes through its index for each scope."""

    def find_text(self, term: TextTerm, scopes: list[TextScope]) -> list[Optional[int]]:
        def first(scope: TextScope) -> Optional[int]:
            hits: list[TextHit] = self.search_text(TextTerm(term.tokens, True), None, 0xFFFFFFFF)
            return min((hit.part for hit in hits if hit.owner == scope.owner and hit.part <= scope.until), default=None)

        return [first(scope) for scope in scopes]


class Partial(FileStore):
    """Writes a part of what it refuses."""

    def commit(self, expected: list[Expectation], writes: list[Write], durability: Durability) -> None:
        super().commit(expected, [], durability)
        for write in writes:
            super().commit([], [write], durability)


class FileContract(unittest.TestCase):
    maxDiff = None

    def test_the_store_in_a_file_keeps_it(self) -> None:
        stores = new_stores(self, busy_for=0.001)
        self.assertEqual(contract(cases(), stores, work=work, turn=turns(self)), [])

    def test_a_store_in_a_file_that_breaks_it_is_found(self) -> None:
        for name, store in {"cost/find-prefix.json": Searching, "commits/all-or-none.json": Partial}.items():
            with self.subTest(store.__doc__):
                of_it = [(at, case) for at, case in cases() if at == name]
                self.assertEqual(contract(of_it, new_stores(self), work=work), [])
                self.assertEqual(len(contract(of_it, new_stores(self, store), work=work)), 1)

    def test_a_store_in_a_file_that_does_not_come_to_a_state_is_found(self) -> None:
        turn = turns(self)
        for left_out in STATES:
            with self.subTest(left_out):
                of_it = [(at, case) for at, case in cases() if left_out in case.get("needs", ())]
                stores = new_stores(self, busy_for=0.001)
                self.assertEqual(contract(of_it, stores, turn=turn), [])
                self.assertEqual(len(contract(of_it, stores, turn=lambda store, state: None)), len(of_it))


if __name__ == "__main__":
    unittest.main()
