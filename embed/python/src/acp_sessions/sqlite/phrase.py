"""A term in FTS5's own language, and without it."""

from __future__ import annotations

from typing import Optional

import apsw

from ..storage import TextTerm
from .reading import readable, row

# Prefixes up to so many characters have an index of their own.
_INDEXED_PREFIX = 3

# A longer prefix is taken for the tokens that begin with it, up to this many. FTS5 would join all that is known of them before it gives the
# first hit; one by one they give hits at once.
_MOST_TOKENS = 64


def is_longer_prefix(term: TextTerm) -> bool:
    """Whether the term ends in a prefix that has no index."""
    return term.prefix and bool(term.tokens) and len(term.tokens[-1]) > _INDEXED_PREFIX


def query(connection: apsw.Connection, term: TextTerm) -> Optional[str]:
    """What to ask FTS5 for; none if nothing can hold the term."""
    if not is_longer_prefix(term):
        return literal(term)
    tokens = _tokens_with_prefix(connection, term.tokens[-1])
    if tokens is None:
        return literal(term)
    return " OR ".join(literal(TextTerm([*term.tokens[:-1], token], False)) for token in tokens) or None


def literal(term: TextTerm) -> str:
    """The term as it stands: always one quoted phrase, so that nothing in a token is taken for syntax."""
    phrase = " ".join(term.tokens).replace('"', '""')
    return f'"{phrase}" *' if term.prefix else f'"{phrase}"'


def _tokens_with_prefix(connection: apsw.Connection, prefix: str) -> Optional[list[str]]:
    """The tokens that begin so, each once; none if there are too many."""
    # The vocabulary has a row for every time that a token is used. Asking for one row after another token steps over them.
    statement = "SELECT CAST(term AS BLOB) FROM vocabulary WHERE term >= ? AND term < ? LIMIT 1"
    end = f"{prefix}\U0010ffff"
    start = prefix
    tokens: list[str] = []
    while (found := row(connection, statement, start, end)) is not None:
        if len(tokens) == _MOST_TOKENS:
            return None
        token = readable(found[0])
        # Below every other token that begins with this one: tokens hold no control characters.
        start = f"{token}\1"
        tokens.append(token)
    return tokens


class Phrase:
    """A term to be looked for in tokens that are separated by single spaces."""

    def __init__(self, term: TextTerm) -> None:
        self._phrase = " ".join(term.tokens).encode()
        self._prefix = term.prefix

    def is_in(self, tokens: bytes) -> bool:
        at = tokens.find(self._phrase)
        while at >= 0:
            behind = at + len(self._phrase)
            begins = at == 0 or tokens[at - 1] == 0x20
            if begins and (self._prefix or behind == len(tokens) or tokens[behind] == 0x20):
                return True
            at = tokens.find(self._phrase, at + 1)
        return False
