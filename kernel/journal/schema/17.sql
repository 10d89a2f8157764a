-- Schema 17: a journal has an identity, and tells what happened to it.

-- One row: a random id that is made with the journal and stays with it, also in copies. Beside the
-- conversations it says which journal they are in. made is when the journal began.
CREATE TABLE identity (
    id   TEXT    PRIMARY KEY,
    made INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO identity (id, made)
    SELECT lower(hex(randomblob(16))),
        coalesce((SELECT time FROM journal ORDER BY seq LIMIT 1), CAST(unixepoch('subsec') * 1000000 AS INTEGER));

-- What happened to the file: it was lost, damaged and salvaged, and the like. A person was told "text".
CREATE TABLE incident (
    time INTEGER NOT NULL,
    text TEXT    NOT NULL
) STRICT;
