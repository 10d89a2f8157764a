-- Schema 19: how fast replies came, and what of them servers had kept.

-- cached is the part of input that came from the server's cache. first is the time in seconds from the
-- request to the first piece of the reply, NULL if it is not known. streamed are the tokens that came in
-- pieces, and writing the seconds from the first piece to the last; 0 if it is not known.
ALTER TABLE usage ADD COLUMN cached   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN first    REAL;
ALTER TABLE usage ADD COLUMN streamed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN writing  REAL    NOT NULL DEFAULT 0;
