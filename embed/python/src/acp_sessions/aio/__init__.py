"""The engine between a client and an agent that speak over asyncio's streams, as the official SDK for Python does."""

from .layer import session_layer
from .streams import Streams, stream_pair

__all__ = ["Streams", "session_layer", "stream_pair"]
