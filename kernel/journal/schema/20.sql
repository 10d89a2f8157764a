-- Schema 20: the person's tasks, and each time at which one was due.

-- since is when the task was first seen with this rule: what was planned before is not made up for.
CREATE TABLE armed (
    task  TEXT    PRIMARY KEY,
    rule  TEXT    NOT NULL,
    since INTEGER NOT NULL
) STRICT;

-- A task is done once for a planned time, and that stands for all up to covered. state is leased, running, retry, done,
-- failed or skipped. at is when it is tried again, or when it ended. settled is 1 when nothing is left to be done,
-- also in the task's file.
CREATE TABLE lease (
    seq     INTEGER PRIMARY KEY,
    task    TEXT    NOT NULL,
    planned INTEGER NOT NULL,
    covered INTEGER NOT NULL,
    state   TEXT    NOT NULL,
    attempt INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    note    TEXT    NOT NULL DEFAULT '',
    settled INTEGER NOT NULL DEFAULT 0,
    UNIQUE (task, planned)
) STRICT;

CREATE INDEX lease_open ON lease (seq) WHERE settled = 0;
