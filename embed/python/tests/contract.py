"""Holds a store against the contract of storages: the cases of `tests/storage`, whose README has the format."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any, Callable, Optional, Sequence

from acp_sessions.storage import (
    Amend,
    Append,
    CutLog,
    DropText,
    Expectation,
    IndexText,
    Put,
    Remove,
    Restore,
    Storage,
    StorageError,
    TextHit,
    TextScope,
    TextTerm,
)

CASES = Path(__file__).parents[3] / "tests" / "storage"
# How much there is beside what is asked for, where the work is measured, and how many times the work may grow.
SIZES = (500, 4000)
MOST_GROWTH = 2
# What a storage's author brings it into where a case says so.
STATES = ("full", "read-only", "busy", "damaged")
# The errors that say in a text what is wrong.
WITH_TEXT = ("corrupt", "unavailable")

Cases = Sequence[tuple[str, dict[str, Any]]]
WRITES: dict[str, Callable[..., Any]] = {
    "put": Put,
    "append": Append,
    "amend": Amend,
    "restore": Restore,
    "cut-log": CutLog,
    "index-text": IndexText,
    "drop-text": DropText,
}


def cases(folder: Path = CASES) -> Cases:
    """All cases by their names."""
    paths = sorted(folder.rglob("*.json"))
    return [(path.relative_to(folder).as_posix(), json.loads(path.read_text("utf-8"))) for path in paths]


def expand(value: Any, size: int = 0, number: Optional[int] = None) -> Any:
    """What a value of a case stands for: `size` for a count that says so, `number` for `{n}`."""
    if isinstance(value, str) and number is not None:
        return number if value == "{n}" else value.replace("{n}", str(number))
    if isinstance(value, list):
        return [one for element in value for one in _elements(element, size, number)]
    if not isinstance(value, dict):
        return value
    if "repeat" in value:
        return value["repeat"] * value["times"]
    return {name: expand(member, size, number) for name, member in value.items()}


def _elements(value: Any, size: int, number: Optional[int]) -> list[Any]:
    if not (isinstance(value, dict) and "count" in value):
        return [expand(value, size, number)]
    start = value.get("from", 0)
    count = size if value["count"] == "size" else value["count"]
    return [expand(value["of"], size, nth) for nth in range(start, start + count)]


def _write(write: Any) -> Any:
    [(name, value)] = write.items()
    return Remove(value) if name == "remove" else WRITES[name](**value)


def _argument(name: str, value: Any) -> Any:
    if name == "term":
        return TextTerm(**value)
    if name == "scopes":
        return [TextScope(**scope) for scope in value]
    if name == "after" and isinstance(value, dict):
        return TextHit(**value)
    if name == "expected":
        return [Expectation(**expected) for expected in value]
    if name == "writes":
        return [_write(write) for write in value]
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return dataclasses.asdict(value) if dataclasses.is_dataclass(value) and not isinstance(value, type) else value


def answer(store: Storage, call: dict[str, Any]) -> Any:
    """What a store answers to a call, as a case writes it."""
    [(name, given)] = call.items()
    arguments = [_argument(name, value) for name, value in given.items()]
    try:
        return {"ok": _plain(getattr(store, name.replace("-", "_"))(*arguments))}
    except StorageError as error:
        return {"error": {error.tag: error.text} if error.text else error.tag}


def _is_wanted(wanted: Any, answered: Any) -> bool:
    return any(_is_same(one, answered) for one in wanted.get("either", [wanted]))


def _is_same(wanted: Any, answered: Any) -> bool:
    """What an error says in its text is left to the storage, but it must say something."""
    if wanted.get("error") in WITH_TEXT:
        said = answered.get("error")
        return isinstance(said, dict) and bool(said.get(wanted["error"]))
    return bool(answered == wanted)


Turn = Callable[[Storage, str], None]


def _held(case: dict[str, Any], store: Storage, turn: Optional[Turn]) -> Optional[str]:
    for nth, step in enumerate(expand(case["steps"])):
        if "turns" in step:
            assert turn and step["turns"] in case["needs"], "it needs a state that it does not name"
            turn(store, step["turns"])
            continue
        answered = answer(store, step["call"])
        if not _is_wanted(step["returns"], answered):
            return f"{case['about']}\n  step {nth} {step}\n  answered {answered}"
    return None


Work = Callable[[Storage, Callable[[], Any]], int]


def _measured(case: dict[str, Any], open: Callable[[], Storage], work: Work) -> Optional[str]:
    call, wanted, works = expand(case["call"]), expand(case["returns"]), []
    for size in SIZES:
        store, answers = open(), []
        for writes in (case["start"], case["fill"]):
            store.commit([], [_write(write) for write in expand(writes, size)], "relaxed")
        works.append(work(store, lambda: answers.append(answer(store, call))))
        if not _is_wanted(wanted, answers[0]):
            return f"{case['about']}\n  answered {answers[0]}"
    # Who counts nothing cannot tell.
    if works[0] > 0 and works[1] <= MOST_GROWTH * works[0]:
        return None
    return f"{case['about']}\n  the work grew from {works[0]} to {works[1]}"


def contract(
    cases: Cases,
    open: Callable[[], Storage],
    lacks: Sequence[str] = (),
    work: Optional[Work] = None,
    turn: Optional[Turn] = None,
) -> list[str]:
    """
    What a store breaks of the contract; nothing where it keeps it. `open` gives an empty store; `lacks` is what it is without, in the
    words of the README; `work` runs a call and says how much work that is for the store; `turn` brings it into a state, which it stays in.
    """
    without = {*lacks, *(() if work else ("work", "page-work")), *(() if turn else STATES)}
    found = []
    for name, case in cases:
        if without.isdisjoint(case.get("needs", ())) and without.issuperset(case.get("lacks", ())):
            wrong = _held(case, open(), turn) if "steps" in case else _measured(case, open, work) if work else None
            if wrong:
                found.append(f"{name}: {wrong}")
    return found
