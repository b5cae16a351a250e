"""
Requests that no instance could answer: the embedder says so itself, in the least words. As `host/src/engine/unanswered.rs`.
"""

from __future__ import annotations

import json
from typing import Any, Optional, Sequence

from .exchange import Arrival, Output

_ERROR = '{"code":-32603,"message":"The session engine failed at this request"}'


class _AsWritten(str):
    """A number as it stands in the line, so that none is rounded."""


def refusals(arrivals: Sequence[Arrival]) -> list[Output]:
    """The outputs that answer the requests among these arrivals, as far as they can be read."""
    ids = ((arrival.peer, _request_id(arrival)) for arrival in arrivals)
    return [
        Output(peer, f'{{"jsonrpc":"2.0","id":{id},"error":{_ERROR}}}') for peer, id in ids if id is not None
    ]


def _request_id(arrival: Arrival) -> Optional[str]:
    """The id of a request as JSON. None of what is no request."""
    if arrival.kind != "line":
        return None
    try:
        message: Any = json.loads(arrival.line, parse_int=_AsWritten, parse_float=_AsWritten)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or "method" not in message or "id" not in message:
        return None
    id = message["id"]
    return str(id) if isinstance(id, _AsWritten) else json.dumps(id)
