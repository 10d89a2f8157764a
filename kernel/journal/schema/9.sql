-- Schema 9: what holds for a turn, and below which heading it was asked.

-- settings is JSON, a list of {"name","value","from"} as they held for the last attempt; ''
-- for none. parent is the id of the question or answer whose heading the question stands
-- below, '' for none.
ALTER TABLE turn ADD COLUMN settings TEXT NOT NULL DEFAULT '';
ALTER TABLE turn ADD COLUMN parent   TEXT NOT NULL DEFAULT '';

-- The preset that holds in a session; empty for none.
ALTER TABLE session ADD COLUMN preset TEXT NOT NULL DEFAULT '';
