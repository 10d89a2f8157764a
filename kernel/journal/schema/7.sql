-- Schema 7: how models are shown the beginning of a long session.

-- A digest stands for the turns of a session up to "through", the row of a turn; 0 is
-- none. The last one that applies counts. It is stale when one of those turns was
-- answered anew since, or another of its answers was preferred.
CREATE TABLE digest (
    seq     INTEGER PRIMARY KEY REFERENCES journal,
    session TEXT    NOT NULL,
    through INTEGER NOT NULL,
    stale   INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX digest_session ON digest (session);

-- What the tokens of a model are of what we estimate, learnt from what servers count.
CREATE TABLE correction (
    model   TEXT    PRIMARY KEY,
    factor  REAL    NOT NULL,
    replies INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
