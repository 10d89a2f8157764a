-- Schema 1: what was said and done, and where each turn stands.
--
-- "journal" is the record: one row for everything that happened, never changed
-- and never removed. The other tables hold only what changes, and point with
-- "seq" to the row that says the rest, so no text is stored twice.
--
-- Times are microseconds since 1970 in UTC, 0 for never. "data" is JSON, its
-- shape given by "kind" (see the Go constants of that type).

CREATE TABLE journal (
    seq     INTEGER PRIMARY KEY,
    time    INTEGER NOT NULL,
    kind    TEXT    NOT NULL,
    session TEXT    NOT NULL,
    turn    TEXT    NOT NULL,
    id      TEXT    NOT NULL, -- the event, act or approval it is about
    data    TEXT    NOT NULL
) STRICT;

-- Every index ends in seq, the row's own key: what it selects comes in order.
CREATE INDEX journal_kind    ON journal (kind);
CREATE INDEX journal_session ON journal (session);
CREATE INDEX journal_turn    ON journal (turn);
CREATE INDEX journal_id      ON journal (id);

CREATE TRIGGER journal_unchanged BEFORE UPDATE ON journal
BEGIN SELECT RAISE(ABORT, 'a row of the journal never changes'); END;

CREATE TRIGGER journal_kept BEFORE DELETE ON journal
BEGIN SELECT RAISE(ABORT, 'a row of the journal is never removed'); END;

CREATE TABLE session (
    name    TEXT    PRIMARY KEY,
    turns   INTEGER NOT NULL,
    updated INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX session_updated ON session (updated);

CREATE TABLE turn (
    seq      INTEGER PRIMARY KEY REFERENCES journal, -- its event's row
    id       TEXT    NOT NULL UNIQUE,
    session  TEXT    NOT NULL REFERENCES session,
    event    TEXT    NOT NULL UNIQUE,
    queue    INTEGER NOT NULL UNIQUE,  -- the row that queued it: its place among the waiting
    state    TEXT    NOT NULL,
    attempt  INTEGER NOT NULL,
    skill    TEXT    NOT NULL DEFAULT '',
    model    TEXT    NOT NULL DEFAULT '',
    notice   TEXT    NOT NULL DEFAULT '',
    input    INTEGER NOT NULL DEFAULT 0, -- tokens
    output   INTEGER NOT NULL DEFAULT 0, -- tokens
    cost     REAL    NOT NULL DEFAULT 0, -- US dollars
    saved    INTEGER NOT NULL DEFAULT 0, -- the session's file has the question
    accepted INTEGER NOT NULL,
    started  INTEGER NOT NULL DEFAULT 0,
    finished INTEGER NOT NULL DEFAULT 0  -- 0 exactly while the state is not final
) STRICT;

CREATE INDEX turn_session    ON turn (session);
CREATE INDEX turn_unfinished ON turn (session, queue) WHERE finished = 0;
CREATE INDEX turn_unsaved    ON turn (session) WHERE saved = 0;

CREATE TABLE act (
    seq     INTEGER PRIMARY KEY REFERENCES journal,
    id      TEXT    NOT NULL UNIQUE,
    session TEXT    NOT NULL,
    turn    TEXT    NOT NULL,
    kind    TEXT    NOT NULL,
    saved   INTEGER NOT NULL DEFAULT 0 -- the session's file has it
) STRICT;

CREATE INDEX act_turn    ON act (turn);
CREATE INDEX act_unsaved ON act (session) WHERE saved = 0;

CREATE TABLE approval (
    seq      INTEGER PRIMARY KEY REFERENCES journal,
    id       TEXT    NOT NULL UNIQUE,
    session  TEXT    NOT NULL,
    turn     TEXT    NOT NULL,
    hash     TEXT    NOT NULL,
    decision TEXT    NOT NULL DEFAULT '',
    comment  TEXT    NOT NULL DEFAULT '',
    edited   TEXT    NOT NULL DEFAULT '',
    closed   INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX approval_hash    ON approval (hash);
CREATE INDEX approval_pending ON approval (turn) WHERE closed = 0;
