-- Schema 13: approvals and questions are asks, in one table.
--
-- seq is the row of the kind approval or question, which says what is asked. decision, comment,
-- edited, answers (JSON) and client are empty while an ask waits, and when its turn ended first.
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

-- A question that was answered has a client, one that was declined says so in its answer.
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
