-- Schema 12: work that turns handed on to subagents.

-- One row for each, seq being that of its row of the kind spawn, which says what was handed on.
-- id is that of the task, the event of the subagent's turn; child is its conversation. cancelled:
-- it was stopped before it had a turn. reported is the event that told its conversation what came
-- of it, 'given' where the turn that waited was given it, empty while nobody was told.
CREATE TABLE spawn (
	seq INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	session TEXT NOT NULL,
	turn TEXT NOT NULL,
	child TEXT NOT NULL UNIQUE,
	cancelled INTEGER NOT NULL DEFAULT 0,
	reported TEXT NOT NULL DEFAULT ''
);
CREATE INDEX spawn_session ON spawn (session, seq);
CREATE INDEX spawn_turn ON spawn (turn);
CREATE INDEX spawn_unreported ON spawn (seq) WHERE reported = '';
CREATE INDEX spawn_reported ON spawn (reported) WHERE reported <> '';
