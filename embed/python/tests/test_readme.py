"""The first example of the README runs as it stands."""

import json
import re
import subprocess
import sys
import unittest
from pathlib import Path


class Readme(unittest.TestCase):
    def test_the_first_example_runs_as_it_stands(self) -> None:
        readme = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
        found = re.search(r"```python\n(.*?)```", readme, re.DOTALL)
        assert found is not None
        run = subprocess.run([sys.executable, "-c", found[1]], capture_output=True, check=True, text=True)
        answer = json.loads(run.stdout.splitlines()[-1].removeprefix("client "))
        self.assertEqual((answer["id"], answer["result"]["sessions"]), (1, []))


if __name__ == "__main__":
    unittest.main()
