-- Schema 10: when a question was asked, as models are told it.

-- With the offset from UTC that held where the person was, as in 2026-10-25T02:30:00+01:00;
-- never earlier than that of the turn before in the session, and never changed. Empty where
-- nobody kept it: models are told nothing then, as before.
ALTER TABLE turn ADD COLUMN stamp TEXT NOT NULL DEFAULT '';
