-- Schema 21: what is kept for the owner, and the events that wait for a heartbeat.

-- kind is result, failure or alert. read is when the owner read it, 0 if they did not.
CREATE TABLE inbox (
    seq     INTEGER PRIMARY KEY,
    id      TEXT    NOT NULL UNIQUE,
    kind    TEXT    NOT NULL,
    session TEXT    NOT NULL DEFAULT '',
    title   TEXT    NOT NULL,
    text    TEXT    NOT NULL,
    time    INTEGER NOT NULL,
    read    INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX inbox_unread ON inbox (seq) WHERE read = 0;

-- An event that came several times in a row has one row. dropped is how many events before it were forgotten, because
-- too many waited. One that a heartbeat has taken stays for a while, so that it is not taken again with its id.
CREATE TABLE queued_event (
    seq     INTEGER PRIMARY KEY,
    id      TEXT    NOT NULL UNIQUE,
    sensor  TEXT    NOT NULL,
    text    TEXT    NOT NULL,
    fields  TEXT    NOT NULL DEFAULT '',
    urgent  INTEGER NOT NULL DEFAULT 0,
    times   INTEGER NOT NULL DEFAULT 1,
    dropped INTEGER NOT NULL DEFAULT 0,
    time    INTEGER NOT NULL,
    taken   INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX queued_event_waiting ON queued_event (seq) WHERE taken = 0;
