-- Schema 18: what was sent to models and what they replied goes to the archive when it is old.

-- One row. The rows up to "until" were looked at, and those that are old are in the archive (archive.go).
-- moving is 0, but for a transaction that moves rows up to it.
CREATE TABLE archiving (
    until  INTEGER NOT NULL,
    moving INTEGER NOT NULL
) STRICT;

INSERT INTO archiving (until, moving) VALUES (0, 0);

-- A row of these kinds gives way to one with the same number, and with the sum by which the archive has its
-- data. It is removed for that and not changed, because SQLite frees no page when rows become shorter.
DROP TRIGGER journal_kept;

CREATE TRIGGER journal_kept BEFORE DELETE ON journal
WHEN NOT (OLD.kind IN ('model-request', 'model-reply', 'proposal')
    AND EXISTS (SELECT 1 FROM archiving WHERE OLD.seq > until AND OLD.seq <= moving))
BEGIN SELECT RAISE(ABORT, 'a row of the journal is never removed'); END;
