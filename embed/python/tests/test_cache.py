"""What is compiled is kept, and believed only where nobody else can have written it."""

import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from acp_sessions import load
from wasmtime import wat2wasm
from wasmtime.component import Component

# Compiled in a moment.
SMALL = bytes(wat2wasm('(component (core module $m (func (export "f"))))'))


class Cache(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "cache"

    def compiled(self, wasm: bytes = SMALL) -> int:
        """How often it was compiled as it was loaded."""
        with mock.patch.object(load, "Component", wraps=Component) as component:
            load.Loaded(wasm, self.folder)
        return component.call_count

    def kept(self) -> Path:
        [path] = self.folder.iterdir()
        return path

    def test_it_is_compiled_once(self) -> None:
        self.assertEqual([self.compiled(), self.compiled()], [1, 0])

    def test_what_is_damaged_is_made_anew(self) -> None:
        self.compiled()
        for damage in (b"", self.kept().read_bytes()[:-1], self.kept().read_bytes()[:-1] + b"?"):
            self.kept().write_bytes(damage)
            self.assertEqual([self.compiled(), self.compiled()], [1, 0])

    @unittest.skipIf(sys.platform == "win32", "folders belong to users in another way there")
    def test_what_others_can_write_is_not_believed(self) -> None:
        self.compiled()
        self.kept().chmod(0o666)
        self.assertEqual(self.compiled(), 1)
        self.assertEqual(self.compiled(), 0)
        self.folder.chmod(0o777)
        self.assertEqual([self.compiled(), self.compiled()], [1, 1])

    def test_another_component_is_another(self) -> None:
        self.compiled()
        other = bytes(wat2wasm('(component (core module $m (func (export "g"))))'))
        self.assertEqual(self.compiled(other), 1)

    def test_a_user_without_a_home_has_no_usual_folder(self) -> None:
        with mock.patch.object(Path, "home", side_effect=RuntimeError), mock.patch.dict("os.environ", clear=True):
            self.assertIsNone(load.usual_cache())

    def test_it_does_without_a_folder(self) -> None:
        self.folder.write_text("a file")
        self.assertEqual([self.compiled(), self.compiled()], [1, 1])


if __name__ == "__main__":
    unittest.main()
