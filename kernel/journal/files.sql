-- The index of files: words of documents, and where they stand. It is no migration: another
-- version is made anew.

CREATE TABLE document (
    row     INTEGER PRIMARY KEY,
    path    TEXT    NOT NULL UNIQUE,
    size    INTEGER NOT NULL,
    changed INTEGER NOT NULL, -- nanoseconds
    hash    TEXT    NOT NULL,
    beside  TEXT    NOT NULL -- what else its parts depend on, as its indexer tells it
) STRICT;

CREATE TABLE part (
    row      INTEGER PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES document,
    id       TEXT    NOT NULL,
    title    TEXT    NOT NULL,
    tags     TEXT    NOT NULL, -- with colons between
    scope    TEXT    NOT NULL,
    day      INTEGER NOT NULL, -- 20261122, 0 for none
    own      INTEGER NOT NULL,
    line     INTEGER NOT NULL,
    begins   INTEGER NOT NULL, -- bytes
    ends     INTEGER NOT NULL,
    sum      TEXT    NOT NULL -- of what a vector is made of
) STRICT;

CREATE INDEX part_document ON part (document);

CREATE TABLE vector (
    row   INTEGER PRIMARY KEY,
    sum   TEXT NOT NULL,
    model TEXT NOT NULL, -- that made it
    data  BLOB NOT NULL, -- what a byte stands for, as a 32-bit float, and a byte for each number
    UNIQUE (sum, model)
) STRICT;

-- The Go code cuts text into words (words.go), as for the journal's own search.
CREATE VIRTUAL TABLE words USING fts5(
    title, text, tags,
    content = '', contentless_delete = 1,
    tokenize = ascii
);

-- What is put in is merged afterwards (Files.Merge), and not while somebody waits for it: words
-- are gathered in memory, up to so many bytes, so that 100 MB of notes leave fewer pieces than
-- have to be merged at once.
INSERT INTO words (words, rank) VALUES ('automerge', 0), ('crisismerge', 256), ('hashsize', 4194304);

PRAGMA user_version = 5;
