-- Schema 6: what models took for text that was never said.
--
-- Completions are no turns and stand in no journal; what they took is summed, a row for a
-- quarter of an hour (in which any time zone's days begin) and a model. cost is the sum of
-- those whose cost was known, of which there were "priced"; NULL when of none.
CREATE TABLE completion (
    time    INTEGER NOT NULL, -- when the quarter of an hour began
    model   TEXT    NOT NULL,
    replies INTEGER NOT NULL,
    priced  INTEGER NOT NULL,
    input   INTEGER NOT NULL, -- tokens
    output  INTEGER NOT NULL, -- tokens
    cost    REAL,             -- US dollars
    PRIMARY KEY (time, model)
) STRICT, WITHOUT ROWID;
