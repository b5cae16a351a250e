"""Lines are cut out of a stream in whatever pieces it comes."""

import unittest
from typing import Optional

from acp_sessions import Arrival
from acp_sessions.aio.lines import Lines
from acp_sessions.shortened import HEAD, TAIL


class CutLines(unittest.TestCase):
    def cut(self, stream: bytes, limit: int = 100) -> list[Arrival]:
        """In pieces of each size, which must make no difference."""
        found: Optional[list[Arrival]] = None
        for size in range(1, len(stream) + 2):
            lines = Lines("client", limit)
            pieces = [lines.push(stream[at : at + size]) for at in range(0, len(stream), size)]
            arrivals = [arrival for piece in [*pieces, lines.finish()] for arrival in piece]
            self.assertIn(found, (None, arrivals))
            found = arrivals
        return found or []

    def test_a_line_ends_with_its_end_and_the_last_with_the_stream(self) -> None:
        arrivals = self.cut(b'{"a": 1}\r\n\n  \n{"b"\r: 2}\n{"c": 3}')
        self.assertEqual([arrival.line for arrival in arrivals], ['{"a": 1}', '{"b"\r: 2}', '{"c": 3}'])
        self.assertEqual({(arrival.peer, arrival.kind) for arrival in arrivals}, {("client", "line")})

    def test_of_a_line_over_the_limit_the_head_and_the_end_are_left(self) -> None:
        arrivals = self.cut(b"12345\r\n123456\nab\n12345\r6\n12345\n", limit=5)
        kinds = [(arrival.kind, arrival.line) for arrival in arrivals]
        expected = [("line", "12345"), ("too-long", "123456"), ("line", "ab"), ("too-long", "12345\r6"), ("line", "12345")]
        self.assertEqual(kinds, expected)
        [arrival] = Lines("agent", 5).push(b"x" * (HEAD - 1) + "\u00fc".encode() + b"x" * HEAD + b"y\n")
        expected_line = "x" * (HEAD - 1) + "\n" + "x" * (TAIL - 1) + "y"
        self.assertEqual((arrival.kind, arrival.line), ("too-long", expected_line))

    def test_the_end_is_what_stands_behind_the_head(self) -> None:
        for behind, limit in [(0, 100), (1, 100), (TAIL - 1, HEAD), (TAIL, 5), (TAIL + 1, HEAD + 7), (9000, HEAD + 3000)]:
            rest = ("0123456789" * 900)[:behind]
            expected = "h" * HEAD + (f"\n{rest[-TAIL:]}" if rest else "")
            stream = f"{'h' * HEAD}{rest}\nnext\n".encode()
            for size in (1, 7, 1000, 4097, 5000, 20_000):
                lines = Lines("agent", limit)
                pieces = [lines.push(stream[at : at + size]) for at in range(0, len(stream), size)]
                arrivals = [arrival for piece in pieces for arrival in piece]
                self.assertEqual([arrival.line for arrival in arrivals], [expected, "next"], (behind, limit, size))

    def test_what_is_no_text_is_told_as_well_as_it_can_be_read(self) -> None:
        [arrival] = self.cut(b'{"a": "\xff"}\n')
        self.assertEqual((arrival.kind, arrival.line), ("not-text", '{"a": "\ufffd"}'))


if __name__ == "__main__":
    unittest.main()
