-- Small values, ordered by key, rewritten often.
CREATE TABLE records (
    key   TEXT PRIMARY KEY NOT NULL,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The numbers of the logs.
CREATE TABLE logs (
    id   INTEGER PRIMARY KEY,
    name TEXT UNIQUE NOT NULL
) STRICT;

-- id = the log's number * 2^32 + the entry's number: one tree, in which a log's entries lie side by side.
CREATE TABLE entries (
    id    INTEGER PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

-- The numbers of those whose texts are searched. They are never given twice: a search goes on below the last hit's.
CREATE TABLE owners (
    id   INTEGER PRIMARY KEY,
    name TEXT UNIQUE NOT NULL
) STRICT;

-- rowid = the owner's number * 2^28 + the part. The engine has folded and split the text already: everything but a
-- space is part of a token. The text itself is kept so that a delete finds what the index holds of it, and to read it
-- where the index is of no help.
CREATE VIRTUAL TABLE texts USING fts5(
    tokens,
    tokenize = "ascii tokenchars '!""#$%&''()*+,-./:;<=>?@[\]^_`{|}~'",
    detail = full,
    columnsize = 0,
    prefix = '1 2 3'
);

-- The tokens that there are, to know which of them begin with a longer prefix.
CREATE VIRTUAL TABLE vocabulary USING fts5vocab('texts', 'instance');
