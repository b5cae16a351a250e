"""What an engine may be told of the folders that sessions are in: the interface ``folders`` of ``wit/world.wit``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Optional

from .imports import record


@dataclass(frozen=True, slots=True)
class Repository:
    """The repository whose main worktree a directory is in: its first commit, and how many levels the directory is below the root."""

    first_commit: str
    depth: int


class Folders:
    """
    Knows nothing; whoever has a file system overrides what can be told. The functions are called in the midst of a call of the
    engine's, which waits for them: what takes long is found out beside, None until it is known.
    """

    def worktrees(self, cwd: str) -> Optional[list[str]]:
        return []

    def repository_of(self, cwd: str) -> Optional[Repository]:
        return None


def folder_functions(folders: Folders) -> dict[str, Callable[..., Any]]:
    """The functions as an instance calls them, by their names."""

    def repository_of(cwd: str) -> Any:
        known = folders.repository_of(cwd)
        return None if known is None else record(first_commit=known.first_commit, depth=known.depth)

    return {"worktrees": lambda cwd: folders.worktrees(cwd), "repository-of": repository_of}
