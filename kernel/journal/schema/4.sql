-- Schema 4: what turns cost, which answer counts, and words that come while a
-- turn runs.

-- One row for each reply of a model whose server counted. cost is NULL when
-- nobody knows it: unknown is not nothing.
CREATE TABLE usage (
    seq       INTEGER PRIMARY KEY REFERENCES journal,
    turn      TEXT    NOT NULL,
    model     TEXT    NOT NULL,
    time      INTEGER NOT NULL,
    input     INTEGER NOT NULL, -- tokens
    output    INTEGER NOT NULL, -- tokens
    cost      REAL              -- US dollars
) STRICT;

CREATE INDEX usage_turn ON usage (turn);

INSERT INTO usage (seq, turn, model, time, input, output, cost)
    SELECT seq, id, model, accepted, input, output, nullif(cost, 0) FROM turn WHERE input + output > 0;

-- The model that a session is answered by; empty for the configured one.
ALTER TABLE session ADD COLUMN model TEXT NOT NULL DEFAULT '';

-- wanted is the model that this attempt was asked for, empty for the session's.
-- answer is the last whole answer, preferred the one that a person chose: later
-- turns are shown the latter if there is one. instead is the question in whose
-- place this one stands.
ALTER TABLE turn ADD COLUMN wanted    TEXT NOT NULL DEFAULT '';
ALTER TABLE turn ADD COLUMN answer    TEXT NOT NULL DEFAULT '';
ALTER TABLE turn ADD COLUMN preferred TEXT NOT NULL DEFAULT '';
ALTER TABLE turn ADD COLUMN instead   TEXT NOT NULL DEFAULT '';

UPDATE turn SET answer = coalesce(
    (SELECT id FROM act WHERE turn = turn.id AND kind = 'answer' ORDER BY seq DESC LIMIT 1), '')
    WHERE state = 'answered';

-- What a person said to a turn while it ran; used when a model was shown it.
CREATE TABLE steer (
    seq  INTEGER PRIMARY KEY REFERENCES journal,
    id   TEXT    NOT NULL UNIQUE,
    turn TEXT    NOT NULL,
    used INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX steer_turn ON steer (turn);
