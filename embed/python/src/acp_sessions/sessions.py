"""The typed interface ``sessions`` of ``wit/world.wit``, for a history panel or a tool that speaks no JSON-RPC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Literal, Optional, Sequence

from .exchange import EngineError, Refused
from .imports import record
from .instance import SESSIONS, Failed, Instance, Lost

Mending = Literal["nothing", "derived", "everything"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCriteria:
    """All that is given must hold. Sessions of all directories are listed where none is named."""

    cwds: Sequence[str] = ()
    created_after: Optional[str] = None
    created_before: Optional[str] = None
    updated_after: Optional[str] = None
    search: Optional[str] = None
    archived: Literal["hidden", "shown", "only"] = "hidden"
    subagents: bool = False
    include_worktrees: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    id: str
    cwd: str
    title: Optional[str]
    created_at: str
    updated_at: Optional[str]
    last_prompt_at: Optional[str]
    last_turn_ended_at: Optional[str]
    model: Optional[str]
    forked_from: Optional[str]
    state: Optional[Literal["idle", "running", "requires-action"]]
    cost: Optional[Cost]
    archived: bool
    agent: Optional[str]
    meta: Optional[str]
    matched_in: Optional[str]
    snippet: Optional[str]
    set_aside: int


@dataclass(frozen=True, slots=True)
class Page:
    sessions: list[Session]
    next_cursor: Optional[str]


@dataclass(frozen=True, slots=True)
class Changes:
    sessions: list[Session]
    removed: list[str]
    position: str
    more: bool
    read_again: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Relocation:
    id: str
    title: Optional[str]
    old_cwd: str
    new_cwd: str
    directories: int


@dataclass(frozen=True, slots=True)
class Relocations:
    sessions: list[Relocation]
    next_cursor: Optional[str]


@dataclass(frozen=True, slots=True)
class NotedFolder:
    cwd: str
    root: str


@dataclass(frozen=True, slots=True)
class Update:
    cursor: str
    update: str


@dataclass(frozen=True, slots=True)
class TranscriptPage:
    updates: list[Update]
    more: bool


@dataclass(frozen=True, slots=True)
class Cost:
    amount: str
    """Decimal; ``decimal.Decimal`` reads it as it is."""
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    total_tokens: int
    input_tokens: int
    output_tokens: int
    thought_tokens: int
    cached_read_tokens: int
    cached_write_tokens: int


@dataclass(frozen=True, slots=True)
class Used:
    answers: int
    tokens: Tokens
    costs: list[Cost]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    session_id: str
    cwd: str
    title: Optional[str]
    day: Optional[str]
    agent: str
    used: Used


@dataclass(frozen=True, slots=True)
class UsagePage:
    usages: list[Usage]
    next_cursor: Optional[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnUsage:
    ended_at: str
    used: Used
    context_used: Optional[int]
    context_size: Optional[int]


@dataclass(frozen=True, slots=True)
class TurnUsagePage:
    turns: list[TurnUsage]
    next_cursor: Optional[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionOption:
    id: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionAnswer:
    answered_at: str
    client: Optional[str]
    outcome: Literal["selected", "cancelled", "failed"]
    selected: Optional[PermissionOption]
    """What was chosen, where something was."""
    failure: Optional[str]
    """Why the client failed, where it did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    session_id: str
    """That in which it was asked: the session whose permissions are read, or that of one of its sub-agents."""
    asked_at: str
    tool_call_id: Optional[str]
    title: Optional[str]
    tool_call: Optional[str]
    options: list[PermissionOption]
    answer: Optional[PermissionAnswer]


@dataclass(frozen=True, slots=True)
class PermissionPage:
    permissions: list[Permission]
    next_cursor: Optional[str]


@dataclass(frozen=True, slots=True)
class Finding:
    what: str
    subject: str
    remedy: Mending
    mended: bool


@dataclass(frozen=True, slots=True)
class Checkup:
    done: int
    entries: int
    findings: list[Finding]
    next_cursor: Optional[str]


def _members(of: Any) -> dict[str, Any]:
    """The members of a record, by our names."""
    return {name.replace("-", "_"): value for name, value in vars(of).items()}


def _given(criteria: ListCriteria) -> Any:
    members = {name: getattr(criteria, name) for name in ListCriteria.__slots__}
    if isinstance(criteria.cwds, str):
        raise TypeError("cwds are several folders, in a list, and not a text")
    return record(**{**members, "cwds": list(criteria.cwds)})


def _page(page: Any) -> Page:
    members = _members(page)
    return Page([_session(session) for session in page.sessions], members["next_cursor"])


def _session(session: Any) -> Session:
    cost = session.cost
    return Session(**{**_members(session), "cost": cost and Cost(cost.amount, cost.currency)})


def _transcript(page: Any) -> TranscriptPage:
    return TranscriptPage([Update(of.cursor, of.update) for of in page.updates], page.more)


def _used(used: Any) -> Used:
    return Used(
        used.answers, Tokens(**_members(used.tokens)), [Cost(cost.amount, cost.currency) for cost in used.costs]
    )


def _with_used(of: Any) -> dict[str, Any]:
    return {**_members(of), "used": _used(of.used)}


def _permission(asked: Any) -> Permission:
    members = _members(asked)
    options = [PermissionOption(**_members(option)) for option in asked.options]
    return Permission(**{**members, "options": options, "answer": asked.answer and _answer(asked.answer)})


def _answer(answer: Any) -> PermissionAnswer:
    # The bindings leave out what the kind of the payload tells.
    payload = answer.outcome
    outcome: Literal["selected", "cancelled", "failed"]
    outcome = "cancelled" if payload is None else "failed" if isinstance(payload, str) else "selected"
    return PermissionAnswer(
        answered_at=_members(answer)["answered_at"],
        client=answer.client,
        outcome=outcome,
        selected=PermissionOption(**_members(payload)) if outcome == "selected" else None,
        failure=payload if outcome == "failed" else None,
    )


class Sessions:
    """
    Each function raises `Refused` with the error of the WIT, `TypeError` or `ValueError` where an argument is none, and `EngineError`
    where the engine was lost in it; the next call then has a fresh one.
    """

    def __init__(self, make: Callable[[], Instance]) -> None:
        self._make = make
        self._instance: Optional[Instance] = None

    def list_sessions(
        self, criteria: ListCriteria = ListCriteria(), limit: int = 50, cursor: Optional[str] = None
    ) -> Page:
        return _page(self._call("list-sessions", _given(criteria), limit, cursor))

    def changes_since(self, criteria: ListCriteria = ListCriteria(), position: Optional[str] = None) -> Changes:
        changes = self._call("changes-since", _given(criteria), position)
        return Changes(**{**_members(changes), "sessions": [_session(session) for session in changes.sessions]})

    def get_session(self, session_id: str) -> Session:
        return _session(self._call("get-session", session_id))

    def read_transcript(self, session_id: str, after: Optional[str] = None, limit: int = 100) -> TranscriptPage:
        return _transcript(self._call("read-transcript", session_id, after, limit))

    def read_set_aside(self, session_id: str, after: Optional[str] = None, limit: int = 100) -> TranscriptPage:
        return _transcript(self._call("read-set-aside", session_id, after, limit))

    def list_usage(self, limit: int = 256, cursor: Optional[str] = None) -> UsagePage:
        page = self._call("list-usage", limit, cursor)
        return UsagePage([Usage(**_with_used(usage)) for usage in page.usages], _members(page)["next_cursor"])

    def read_turn_usage(self, session_id: str, after: Optional[str] = None, limit: int = 100) -> TurnUsagePage:
        page = self._call("read-turn-usage", session_id, after, limit)
        return TurnUsagePage([TurnUsage(**_with_used(turn)) for turn in page.turns], _members(page)["next_cursor"])

    def read_permissions(self, session_id: str, after: Optional[str] = None, limit: int = 100) -> PermissionPage:
        page = self._call("read-permissions", session_id, after, limit)
        return PermissionPage([_permission(asked) for asked in page.permissions], _members(page)["next_cursor"])

    def rename_session(self, session_id: str, title: str) -> str:
        renamed: str = self._call("rename-session", session_id, title)
        return renamed

    def archive_session(self, session_id: str, archived: bool = True) -> None:
        self._call("archive-session", session_id, archived)

    def delete_session(self, session_id: str) -> None:
        self._call("delete-session", session_id)

    def finish_deletes(self) -> bool:
        more: bool = self._call("finish-deletes")
        return more

    def prune_sessions(
        self,
        idle_since: str,
        cwd: Optional[str] = None,
        limit: int = 100,
        cursor: Optional[str] = None,
        dry_run: bool = False,
    ) -> Page:
        return _page(self._call("prune-sessions", idle_since, cwd, limit, cursor, dry_run))

    def move_sessions(
        self, old_cwd: str, new_cwd: str, limit: int = 100, cursor: Optional[str] = None, dry_run: bool = False
    ) -> Relocations:
        page = self._call("move-sessions", old_cwd, new_cwd, limit, cursor, dry_run)
        return Relocations([Relocation(**_members(of)) for of in page.sessions], _members(page)["next_cursor"])

    def folders_of(self, first_commit: str) -> list[NotedFolder]:
        return [NotedFolder(of.cwd, of.root) for of in self._call("folders-of", first_commit)]

    def check_store(self, mending: Mending = "nothing", cursor: Optional[str] = None, limit: int = 256) -> Checkup:
        found = self._call("check-store", mending, cursor, limit)
        findings = [Finding(**_members(finding)) for finding in found.findings]
        return Checkup(found.done, found.entries, findings, _members(found)["next_cursor"])

    def _call(self, name: str, *arguments: Any) -> Any:
        try:
            if self._instance is None:
                self._instance = self._make()
            return self._instance.call(SESSIONS, name, *arguments)
        except Failed as failed:
            raise Refused(failed.error.tag, failed.error.payload) from None
        except Lost as lost:
            self._instance = None
            raise EngineError(f"the session engine failed at {name}: {lost}") from lost
