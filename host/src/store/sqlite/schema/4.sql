-- How far the file is on the way to holding nothing any more of what was removed (host/src/store/sqlite/cleaning.rs).
-- Times are milliseconds since 1970.
CREATE TABLE IF NOT EXISTS cleaning (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    -- How many commits have removed something, and how many of them the last pass is about.
    removed INTEGER NOT NULL,
    covered INTEGER NOT NULL,
    -- When the first of those behind them was made, and the last of all.
    first   INTEGER NOT NULL,
    last    INTEGER NOT NULL,
    -- What is being done, and where that is.
    stage   INTEGER NOT NULL,
    place   INTEGER NOT NULL,
    -- When the next slice is due.
    due     INTEGER NOT NULL
) STRICT;

-- Whatever an earlier version has left is cleaned up after as well.
INSERT OR IGNORE INTO cleaning VALUES (1, 1, 0, 0, 0, 0, 0, 0);

-- A merge that is under way is gone on with, however few parts of the index there are.
INSERT INTO texts (texts, rank) VALUES ('usermerge', 2);
