"""The searchable texts of a store in memory, with an index of which texts hold each word."""

from __future__ import annotations

from typing import Iterable, Optional

from .ordered import Ordered
from .storage import TextHit, TextPart, TextScope, TextTerm

# Which parts of an owner hold a word.
Owners = dict[str, set[int]]


class Texts:
    def __init__(self) -> None:
        self._owners: Ordered[dict[int, str]] = Ordered()
        self._words: Ordered[Owners] = Ordered()

    def put(self, owner: str, part: int, tokens: str) -> None:
        self._remove(owner, part)
        if not tokens:
            return
        parts = self._owners.get(owner)
        if parts is None:
            parts = {}
            self._owners.set(owner, parts)
        parts[part] = tokens
        for word in set(tokens.split(" ")):
            owners = self._words.get(word)
            if owners is None:
                owners = {}
                self._words.set(word, owners)
            owners.setdefault(owner, set()).add(part)

    def drop(self, owner: str, start: int) -> None:
        for part in list(self._owners.get(owner) or ()):
            if part >= start:
                self._remove(owner, part)

    def _remove(self, owner: str, part: int) -> None:
        parts = self._owners.get(owner)
        if parts is None or part not in parts:
            return
        tokens = parts.pop(part)
        if not parts:
            self._owners.delete(owner)
        for word in set(tokens.split(" ")):
            owners = self._words.get(word)
            if owners is None:
                continue
            owners[owner].discard(part)
            if not owners[owner]:
                del owners[owner]
            if not owners:
                self._words.delete(word)

    def owners(self, after: Optional[str], limit: int) -> list[str]:
        """The owners behind a name, in their order."""
        return self._owners.behind(after, limit)

    def of(self, owner: str) -> list[TextPart]:
        """An owner's texts in the order of their parts."""
        return [TextPart(owner, part, tokens) for part, tokens in sorted((self._owners.get(owner) or {}).items())]

    def _stands_for(self, word: str, prefix: bool) -> list[Owners]:
        if not prefix:
            owners = self._words.get(word)
            return [] if owners is None else [owners]
        found = []
        for candidate in self._words.keys(self._words.place(word)):
            if not candidate.startswith(word):
                break
            found.append(self._words.get(candidate) or {})
        return found

    def _places(self, term: TextTerm) -> list[list[Owners]]:
        """For each token of a term the words it stands for, as which owners and parts hold them."""
        last = len(term.tokens) - 1
        return [self._stands_for(token, term.prefix and at == last) for at, token in enumerate(term.tokens)]

    def _parts_with(self, term: TextTerm, places: list[list[Owners]], owner: str) -> Iterable[int]:
        """The parts of an owner that hold the term, in no order."""
        texts = self._owners.get(owner) or {}
        fewest: Optional[set[int]] = None
        for words in places:
            # Where a beginning stands for more words than the owner has texts, reading the texts costs less.
            if len(words) > len(texts) + 1:
                continue
            parts = {part for owners in words for part in owners.get(owner, ())}
            if fewest is None or len(parts) < len(fewest):
                fewest = parts
        if fewest is not None and len(places) == 1:
            return fewest
        return [part for part in (texts if fewest is None else fewest) if holds(texts[part], term)]

    def find(self, term: TextTerm, scopes: list[TextScope]) -> list[Optional[int]]:
        """The first part of each scope that holds the term."""
        places = self._places(term)
        if not all(places):
            return [None for _ in scopes]
        found = ((scope.until, self._parts_with(term, places, scope.owner)) for scope in scopes)
        return [min((part for part in parts if part <= until), default=None) for until, parts in found]

    def search(self, term: TextTerm, after: Optional[TextHit], limit: int) -> list[TextHit]:
        """Where the term is found: owners by name backwards, and of each the last part first."""
        places = self._places(term)
        if not all(places):
            return []
        rarest = min(places, key=lambda words: sum(map(len, words)))
        hits: list[TextHit] = []
        for owner in sorted({owner for owners in rarest for owner in owners}, reverse=True):
            if after is not None and owner > after.owner:
                continue
            for part in sorted(self._parts_with(term, places, owner), reverse=True):
                if after is not None and owner == after.owner and part >= after.part:
                    continue
                if len(hits) >= limit:
                    return hits
                hits.append(TextHit(owner, part))
        return hits


def holds(text: str, term: TextTerm) -> bool:
    """Whether a text holds the tokens of a term one after the other."""
    sought = f" {' '.join(term.tokens)}{'' if term.prefix else ' '}"
    return sought in f" {text} "
