-- Schema 3: who decided an approval, and questions that a turn asks a person.
--
-- "client" names the kind of client a person decided or answered with ("emacs", "cli"), ''
-- while it waits and when its turn ended first. "answer" is JSON.

ALTER TABLE approval ADD COLUMN client TEXT NOT NULL DEFAULT '';

CREATE TABLE question (
    seq     INTEGER PRIMARY KEY REFERENCES journal,
    id      TEXT    NOT NULL UNIQUE,
    session TEXT    NOT NULL,
    turn    TEXT    NOT NULL,
    answer  TEXT    NOT NULL DEFAULT '',
    client  TEXT    NOT NULL DEFAULT '',
    closed  INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX question_turn    ON question (turn);
CREATE INDEX question_pending ON question (turn) WHERE closed = 0;
CREATE INDEX approval_turn    ON approval (turn);
