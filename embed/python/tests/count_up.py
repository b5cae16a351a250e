"""`count_up.py STORE TIMES`: counts a record up so many times, beside others that do the same."""

import sys

from acp_sessions import FileStore, StorageError
from acp_sessions.storage import Expectation, Put

KEY = "count"


def main(path: str, times: int) -> None:
    with FileStore(path) as store:
        counted = 0
        while counted < times:
            [before] = store.get([KEY])
            try:
                store.commit([Expectation(KEY, before)], [Put(KEY, str(int(before or 0) + 1))], "relaxed")
                counted += 1
            except StorageError as error:
                if error.tag != "conflict":
                    raise


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
