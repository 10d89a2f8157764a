-- A journal as schema 21 had it (792da1eb): the scripts of that time, and rows.
CREATE TABLE journal (
    seq     INTEGER PRIMARY KEY,
    time    INTEGER NOT NULL,
    kind    TEXT    NOT NULL,
    session TEXT    NOT NULL,
    turn    TEXT    NOT NULL,
    id      TEXT    NOT NULL, -- the event, act or approval it is about
    data    TEXT    NOT NULL
) STRICT;
CREATE INDEX journal_kind    ON journal (kind);
CREATE INDEX journal_session ON journal (session);
CREATE INDEX journal_turn    ON journal (turn);
CREATE INDEX journal_id      ON journal (id);
CREATE TRIGGER journal_unchanged BEFORE UPDATE ON journal
BEGIN SELECT RAISE(ABORT, 'a row of the journal never changes'); END;
CREATE TRIGGER journal_kept BEFORE DELETE ON journal
BEGIN SELECT RAISE(ABORT, 'a row of the journal is never removed'); END;
CREATE TABLE session (
    name    TEXT    PRIMARY KEY,
    turns   INTEGER NOT NULL,
    updated INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX session_updated ON session (updated);
CREATE TABLE turn (
    seq      INTEGER PRIMARY KEY REFERENCES journal, -- its event's row
    id       TEXT    NOT NULL UNIQUE,
    session  TEXT    NOT NULL REFERENCES session,
    event    TEXT    NOT NULL UNIQUE,
    queue    INTEGER NOT NULL UNIQUE,  -- the row that queued it: its place among the waiting
    state    TEXT    NOT NULL,
    attempt  INTEGER NOT NULL,
    skill    TEXT    NOT NULL DEFAULT '',
    model    TEXT    NOT NULL DEFAULT '',
    notice   TEXT    NOT NULL DEFAULT '',
    input    INTEGER NOT NULL DEFAULT 0, -- tokens
    output   INTEGER NOT NULL DEFAULT 0, -- tokens
    cost     REAL    NOT NULL DEFAULT 0, -- US dollars
    saved    INTEGER NOT NULL DEFAULT 0, -- the session's file has the question
    accepted INTEGER NOT NULL,
    started  INTEGER NOT NULL DEFAULT 0,
    finished INTEGER NOT NULL DEFAULT 0  -- 0 exactly while the state is not final
) STRICT;
CREATE INDEX turn_session    ON turn (session);
CREATE INDEX turn_unfinished ON turn (session, queue) WHERE finished = 0;
CREATE INDEX turn_unsaved    ON turn (session) WHERE saved = 0;
CREATE TABLE act (
    seq     INTEGER PRIMARY KEY REFERENCES journal,
    id      TEXT    NOT NULL UNIQUE,
    session TEXT    NOT NULL,
    turn    TEXT    NOT NULL,
    kind    TEXT    NOT NULL,
    saved   INTEGER NOT NULL DEFAULT 0 -- the session's file has it
) STRICT;
CREATE INDEX act_turn    ON act (turn);
CREATE INDEX act_unsaved ON act (session) WHERE saved = 0;
CREATE TABLE approval (
    seq      INTEGER PRIMARY KEY REFERENCES journal,
    id       TEXT    NOT NULL UNIQUE,
    session  TEXT    NOT NULL,
    turn     TEXT    NOT NULL,
    hash     TEXT    NOT NULL,
    decision TEXT    NOT NULL DEFAULT '',
    comment  TEXT    NOT NULL DEFAULT '',
    edited   TEXT    NOT NULL DEFAULT '',
    closed   INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX approval_hash    ON approval (hash);
CREATE INDEX approval_pending ON approval (turn) WHERE closed = 0;
CREATE VIRTUAL TABLE search USING fts5(
    words, place,
    content = '', prefix = '1 2 3', tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
);
ALTER TABLE session ADD COLUMN first INTEGER NOT NULL DEFAULT 0;
UPDATE session SET first = coalesce((SELECT min(seq) FROM turn WHERE session = session.name), 0);
ALTER TABLE session ADD COLUMN parent TEXT NOT NULL DEFAULT '';
CREATE INDEX session_parent ON session (parent);
ALTER TABLE turn ADD COLUMN origin TEXT NOT NULL DEFAULT '';
CREATE TABLE rename (
    seq    INTEGER PRIMARY KEY REFERENCES journal,
    former TEXT    NOT NULL,
    name   TEXT    NOT NULL,
    moved  INTEGER NOT NULL DEFAULT 0 -- the file has the new name, too
) STRICT;
CREATE INDEX rename_former  ON rename (former);
CREATE INDEX rename_name    ON rename (name);
CREATE INDEX rename_unmoved ON rename (seq) WHERE moved = 0;
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
CREATE TABLE armed (
    task  TEXT    PRIMARY KEY,
    rule  TEXT    NOT NULL,
    since INTEGER NOT NULL
) STRICT;
CREATE TABLE lease (
    seq     INTEGER PRIMARY KEY,
    task    TEXT    NOT NULL,
    planned INTEGER NOT NULL,
    covered INTEGER NOT NULL,
    state   TEXT    NOT NULL,
    attempt INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    note    TEXT    NOT NULL DEFAULT '',
    settled INTEGER NOT NULL DEFAULT 0,
    UNIQUE (task, planned)
) STRICT;
CREATE INDEX lease_open ON lease (seq) WHERE settled = 0;
CREATE TABLE inbox (
    seq     INTEGER PRIMARY KEY,
    id      TEXT    NOT NULL UNIQUE,
    kind    TEXT    NOT NULL,
    session TEXT    NOT NULL DEFAULT '',
    title   TEXT    NOT NULL,
    text    TEXT    NOT NULL,
    time    INTEGER NOT NULL,
    read    INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX inbox_unread ON inbox (seq) WHERE read = 0;

CREATE TABLE queued_event (
    seq     INTEGER PRIMARY KEY,
    id      TEXT    NOT NULL UNIQUE,
    sensor  TEXT    NOT NULL,
    text    TEXT    NOT NULL,
    fields  TEXT    NOT NULL DEFAULT '',
    urgent  INTEGER NOT NULL DEFAULT 0,
    times   INTEGER NOT NULL DEFAULT 1,
    dropped INTEGER NOT NULL DEFAULT 0,
    time    INTEGER NOT NULL,
    taken   INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX queued_event_waiting ON queued_event (seq) WHERE taken = 0;

INSERT INTO usage (seq, turn, model, time, input, output, cost)
    SELECT seq, id, model, accepted, input, output, nullif(cost, 0) FROM turn WHERE input + output > 0;
ALTER TABLE session ADD COLUMN model TEXT NOT NULL DEFAULT '';
ALTER TABLE turn ADD COLUMN wanted    TEXT NOT NULL DEFAULT '';
ALTER TABLE turn ADD COLUMN answer    TEXT NOT NULL DEFAULT '';
ALTER TABLE turn ADD COLUMN preferred TEXT NOT NULL DEFAULT '';
ALTER TABLE turn ADD COLUMN instead   TEXT NOT NULL DEFAULT '';
UPDATE turn SET answer = coalesce(
    (SELECT id FROM act WHERE turn = turn.id AND kind = 'answer' ORDER BY seq DESC LIMIT 1), '')
    WHERE state = 'answered';
CREATE TABLE steer (
    seq  INTEGER PRIMARY KEY REFERENCES journal,
    id   TEXT    NOT NULL UNIQUE,
    turn TEXT    NOT NULL,
    used INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX steer_turn ON steer (turn);
DROP TABLE IF EXISTS search;
CREATE VIRTUAL TABLE search USING fts5(
    words, place,
    content = '', prefix = '1 2 3 4 5', tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
);
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
CREATE TABLE digest (
    seq     INTEGER PRIMARY KEY REFERENCES journal,
    session TEXT    NOT NULL,
    through INTEGER NOT NULL,
    stale   INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX digest_session ON digest (session);
CREATE TABLE correction (
    model   TEXT    PRIMARY KEY,
    factor  REAL    NOT NULL,
    replies INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE indexing (
    until INTEGER NOT NULL,
    began INTEGER NOT NULL
) STRICT;
INSERT INTO indexing (until, began)
    SELECT max(seq) + 1, max(seq) + 1 FROM journal WHERE NOT EXISTS (SELECT 1 FROM search_docsize) HAVING max(seq) > 0;
ALTER TABLE turn ADD COLUMN settings TEXT NOT NULL DEFAULT '';
ALTER TABLE turn ADD COLUMN parent   TEXT NOT NULL DEFAULT '';
ALTER TABLE session ADD COLUMN preset TEXT NOT NULL DEFAULT '';
ALTER TABLE turn ADD COLUMN stamp TEXT NOT NULL DEFAULT '';
SELECT 1;
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
CREATE TABLE ask (
    seq      INTEGER PRIMARY KEY REFERENCES journal,
    id       TEXT    NOT NULL UNIQUE,
    sort     TEXT    NOT NULL CHECK (sort IN ('approval', 'question')),
    session  TEXT    NOT NULL,
    turn     TEXT    NOT NULL,
    hash     TEXT    NOT NULL DEFAULT '', -- of the action of an approval
    decision TEXT    NOT NULL DEFAULT '',
    comment  TEXT    NOT NULL DEFAULT '',
    edited   TEXT    NOT NULL DEFAULT '',
    answers  TEXT    NOT NULL DEFAULT '',
    client   TEXT    NOT NULL DEFAULT '',
    closed   INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO ask (seq, id, sort, session, turn, hash, decision, comment, edited, client, closed)
    SELECT seq, id, 'approval', session, turn, hash, decision, comment, edited, client, closed FROM approval;
INSERT INTO ask (seq, id, sort, session, turn, decision, comment, answers, client, closed)
    SELECT seq, id, 'question', session, turn,
        CASE WHEN closed = 0 THEN '' WHEN coalesce(json_extract(said, '$.declined'), 0) THEN 'declined' WHEN client = '' THEN '' ELSE 'answered' END,
        coalesce(json_extract(said, '$.reason'), ''), coalesce(json_extract(said, '$.answers'), ''), client, closed
    FROM (SELECT *, CASE WHEN answer = '' THEN '{}' ELSE answer END AS said FROM question);
DROP TABLE approval;
DROP TABLE question;
CREATE INDEX ask_hash ON ask (hash);
CREATE INDEX ask_turn ON ask (turn);
CREATE INDEX ask_open ON ask (turn) WHERE closed = 0;
CREATE TABLE always_before (
    hash TEXT    PRIMARY KEY,
    seq  INTEGER NOT NULL REFERENCES ask
) STRICT;
INSERT INTO always_before (hash, seq)
    SELECT hash, max(seq) FROM ask WHERE decision = 'allow-always' AND edited = '' AND hash <> '' GROUP BY hash;
CREATE INDEX journal_rules ON journal (time) WHERE kind = 'verdict' AND instr(data, '"rules":') > 0;
CREATE TABLE reading_decided (
    directory TEXT PRIMARY KEY
) STRICT;
UPDATE usage SET input = 0, output = 0, cost = NULL
    WHERE input NOT BETWEEN 0 AND 100000000 OR output NOT BETWEEN 0 AND 100000000 OR cost NOT BETWEEN 0 AND 1000000;
UPDATE completion SET input = 0, output = 0, cost = NULL
    WHERE input NOT BETWEEN 0 AND 1000000000000 OR output NOT BETWEEN 0 AND 1000000000000 OR cost NOT BETWEEN 0 AND 1000000000;
CREATE TABLE identity (
    id   TEXT    PRIMARY KEY,
    made INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE incident (
    time INTEGER NOT NULL,
    text TEXT    NOT NULL
) STRICT;
CREATE TABLE archiving (
    until  INTEGER NOT NULL,
    moving INTEGER NOT NULL
) STRICT;
INSERT INTO archiving (until, moving) VALUES (0, 0);
DROP TRIGGER journal_kept;
CREATE TRIGGER journal_kept BEFORE DELETE ON journal
WHEN NOT (OLD.kind IN ('model-request', 'model-reply', 'proposal')
    AND EXISTS (SELECT 1 FROM archiving WHERE OLD.seq > until AND OLD.seq <= moving))
BEGIN SELECT RAISE(ABORT, 'a row of the journal is never removed'); END;
ALTER TABLE usage ADD COLUMN cached   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN first    REAL;
ALTER TABLE usage ADD COLUMN streamed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN writing  REAL    NOT NULL DEFAULT 0;
INSERT INTO identity (id, made) VALUES ('00112233445566778899aabbccddeeff', 1763800000000001);
INSERT INTO incident (time, text) VALUES (1763800000000002, 'it was lost');
INSERT INTO journal (seq, time, kind, session, turn, id, data) VALUES (1, 1763800000000001, 'event', 'main', 't1', 'q1', '{"sensor":"chat-message","level":1,"text":"where is the harbour"}');
INSERT INTO session (name, turns, updated, first, model, preset, parent) VALUES ('port', 2, 1763800000000001, 1, 'big', 'concise', '');
INSERT INTO turn (seq, id, session, event, queue, state, attempt, skill, model, input, output, cost, saved, accepted, started, finished, answer, stamp, settings, wanted) VALUES (1, 't1', 'port', 'q1', 1, 'answered', 1, 'chat', 'big', 10, 5, 0.5, 1, 1763800000000001, 1763800000000001, 1763800000000009, 'a1', '2025-11-22T09:26:40+01:00', '', '');
INSERT INTO journal (seq, time, kind, session, turn, id, data) VALUES (2, 1763800000000002, 'act', 'main', 't1', 'a1', '{"event":"q1","kind":"answer","raw":"by the lighthouse","text":"** Lighthouse :agent:\nby the lighthouse","plain":"by the lighthouse","final":true}');
INSERT INTO act (seq, id, session, turn, kind, saved) VALUES (2, 'a1', 'port', 't1', 'answer', 1);
INSERT INTO journal (seq, time, kind, session, turn, id, data) VALUES (3, 1763800000000003, 'usage', 'main', 't1', '', '{"input":10,"output":5,"cost":0.5}');
INSERT INTO usage (seq, turn, model, time, input, output, cost, cached, first, streamed, writing) VALUES (3, 't1', 'big', 1763800000000003, 10, 5, 0.5, 2, 0.25, 4, 1.5);
INSERT INTO journal (seq, time, kind, session, turn, id, data) VALUES (4, 1763800000000004, 'event', 'main', 't2', 'q2', '{"sensor":"chat-message","level":1,"text":"and the ferry"}');
INSERT INTO turn (seq, id, session, event, queue, state, attempt, skill, model, input, output, cost, saved, accepted, started, finished) VALUES (4, 't2', 'port', 'q2', 4, 'waiting', 1, 'chat', 'big', 0, 0, 0, 1, 1763800000000004, 1763800000000004, 0);
INSERT INTO journal (seq, time, kind, session, turn, id, data) VALUES (5, 1763800000000005, 'approval', 'main', 't2', 'p1', '{"id":"p1","session":"main","turn":"t2","act":"a2","action":"(:type :log)","hash":"h1","summary":"Do it","reason":"it writes","opened":"2025-11-22T08:26:40Z"}');
INSERT INTO ask (seq, id, sort, session, turn, hash) VALUES (5, 'p1', 'approval', 'port', 't2', 'h1');
INSERT INTO journal (seq, time, kind, session, turn, id, data) VALUES (6, 1763800000000006, 'approval', 'main', 't1', 'p0', '{"id":"p0","session":"main","turn":"t1","act":"a2","action":"(:type :log)","hash":"h0","summary":"Do it","reason":"it writes","opened":"2025-11-22T08:26:40Z"}');
INSERT INTO ask (seq, id, sort, session, turn, hash, decision, closed, client) VALUES (6, 'p0', 'approval', 'port', 't1', 'h0', 'allow-always', 1763800000000008, 'emacs');
INSERT INTO always_before (hash, seq) VALUES ('h0', 6);
INSERT INTO journal (seq, time, kind, session, turn, id, data) VALUES (7, 1763800000000007, 'rename', 'port', '', '', '{"from":"main","to":"port"}');
INSERT INTO rename (seq, former, name, moved) VALUES (7, 'main', 'port', 1);
INSERT INTO journal (seq, time, kind, session, turn, id, data) VALUES (8, 1763800000000008, 'steer', 'main', 't1', 's1', '{"text":"quick"}');
INSERT INTO steer (seq, id, turn, used) VALUES (8, 's1', 't1', 1);
INSERT INTO journal (seq, time, kind, session, turn, id, data) VALUES (9, 1763800000000009, 'digest', 'main', '', '', '{"through":1,"text":"They spoke of a harbour."}');
INSERT INTO digest (seq, session, through) VALUES (9, 'port', 1);
INSERT INTO completion (time, model, replies, priced, input, output, cost) VALUES (1763799300000000, 'big', 2, 1, 30, 3, 0.25);
INSERT INTO correction (model, factor, replies) VALUES ('big', 1.5, 4);
INSERT INTO reading_decided (directory) VALUES ('/project');
INSERT INTO journal (seq, time, kind, session, turn, id, data) VALUES (10, 1763800000000010, 'spawn', 'main', 't1', 'c1', '{"task":"count"}');
INSERT INTO spawn (seq, id, session, turn, child, cancelled, reported) VALUES (10, 'c1', 'port', 't1', 'counting', 1, 'given');
INSERT INTO search (rowid, words, place) VALUES (1, 'where is the harbour', 's1 a0 b0 c0');
INSERT INTO search (rowid, words, place) VALUES (2, 'by the lighthouse', 's1 a0 b0 c0');
INSERT INTO search (rowid, words, place) VALUES (4, 'and the ferry', 's1 a0 b0 c0');
INSERT INTO journal (seq, time, kind, session, turn, id, data) VALUES (11, 1763800000000011, 'model-request', 'main', 't1', '', '{"System":"be brief","Messages":[{"Role":"user","Content":"where is the harbour"}]}');
INSERT INTO armed (task, rule, since) VALUES ('id:report', '@daily', 1763700000000000);
INSERT INTO journal (seq, time, kind, session, turn, id, data) VALUES (100, 1763800000000012, 'lease', 'Report 1', '', 'task-1', '{"task":"id:report","planned":"2025-11-22T08:00:00Z","covered":"2025-11-22T08:00:00Z","file":"tasks.org","title":"Report","text":"Report","session":"Report 1","retries":2,"backoff":60000000000,"state":"leased","attempt":1,"at":"2025-11-22T08:00:00Z"}');
INSERT INTO lease (seq, task, planned, covered, state, attempt, at, note, settled) VALUES (100, 'id:report', 1763798400000000, 1763798400000000, 'running', 1, 1763798400000000, '', 0);
INSERT INTO journal (seq, time, kind, session, turn, id, data) VALUES (101, 1763800000000013, 'inbox', 'port', '', 'i1', '{"kind":"result","title":"Report"}');
INSERT INTO inbox (seq, id, kind, session, title, text, time, read) VALUES (101, 'i1', 'result', 'port', 'Report', 'All is well.', 1763800000000013, 0);
INSERT INTO journal (seq, time, kind, session, turn, id, data) VALUES (102, 1763800000000014, 'queued-event', '', '', 'e1', '{"sensor":"post-arrived","text":"a letter"}');
INSERT INTO queued_event (seq, id, sensor, text, fields, urgent, times, dropped, time, taken) VALUES (102, 'e1', 'post-arrived', 'a letter', '', 0, 1, 0, 1763800000000014, 0);
