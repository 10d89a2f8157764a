-- Schema 2: conversations that are found by their words, renamed and forked.

-- The words of questions and answers. A row has the number of the journal's row
-- whose text it indexes; the text itself is only there. The Go code cuts text into
-- words (words.go), folded and divided by blanks, so that the tokenizer has nothing
-- left to decide. "place" has the word of the session ("s" and session.first), and
-- "copy" for what a fork copied.
CREATE VIRTUAL TABLE search USING fts5(
    words, place,
    content = '', prefix = '1 2 3', tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
);

-- What a session is known by when its name changes: the row it began with.
ALTER TABLE session ADD COLUMN first INTEGER NOT NULL DEFAULT 0;
UPDATE session SET first = coalesce((SELECT min(seq) FROM turn WHERE session = session.name), 0);

-- The session it was forked from, '' for none.
ALTER TABLE session ADD COLUMN parent TEXT NOT NULL DEFAULT '';
CREATE INDEX session_parent ON session (parent);

-- The turn it is a copy of, '' for none: a fork has copies of its parent's turns.
ALTER TABLE turn ADD COLUMN origin TEXT NOT NULL DEFAULT '';

-- Renamings. The rows of "journal" keep the name they were written under.
CREATE TABLE rename (
    seq    INTEGER PRIMARY KEY REFERENCES journal,
    former TEXT    NOT NULL,
    name   TEXT    NOT NULL,
    moved  INTEGER NOT NULL DEFAULT 0 -- the file has the new name, too
) STRICT;

CREATE INDEX rename_former  ON rename (former);
CREATE INDEX rename_name    ON rename (name);
CREATE INDEX rename_unmoved ON rename (seq) WHERE moved = 0;
