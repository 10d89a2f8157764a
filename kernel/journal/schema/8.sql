-- Schema 8: the index of words is made beside the work that goes on.

-- One row while it is being made: what was written before the row "until" of the journal is
-- not in it yet, and before the row "began" nothing was when that began. No row: all is.
CREATE TABLE indexing (
    until INTEGER NOT NULL,
    began INTEGER NOT NULL
) STRICT;

INSERT INTO indexing (until, began)
    SELECT max(seq) + 1, max(seq) + 1 FROM journal WHERE NOT EXISTS (SELECT 1 FROM search_docsize) HAVING max(seq) > 0;
