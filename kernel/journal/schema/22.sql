-- Schema 22: what was written in chats of channels, and what is sent to them.

-- A conversation on a channel. seen is the row of the last message that the owner saw.
CREATE TABLE chat (
    channel TEXT    NOT NULL,
    chat    TEXT    NOT NULL,
    session TEXT    NOT NULL,
    title   TEXT    NOT NULL DEFAULT '',
    shared  INTEGER NOT NULL DEFAULT 0,
    last    INTEGER NOT NULL DEFAULT 0,
    seen    INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (channel, chat)
) STRICT, WITHOUT ROWID;

CREATE INDEX chat_session ON chat (session);

-- A message in a chat, from others or from the agent. id is the chat's own. event is the question that it became, and act
-- what of the agent it is part of. fields is JSON.
CREATE TABLE chat_message (
    seq     INTEGER PRIMARY KEY,
    channel TEXT    NOT NULL,
    chat    TEXT    NOT NULL,
    id      TEXT    NOT NULL,
    sender  TEXT    NOT NULL,
    text    TEXT    NOT NULL,
    time    INTEGER NOT NULL,
    event   TEXT    NOT NULL DEFAULT '',
    act     TEXT    NOT NULL DEFAULT '',
    fields  TEXT    NOT NULL DEFAULT '',
    UNIQUE (channel, id)
) STRICT;

CREATE INDEX chat_message_of ON chat_message (channel, chat, seq);

-- A message that is to be sent. state is waiting, sending, sent, failed or unknown; next is when it is tried again. body is
-- JSON. A message with the same id is queued once.
CREATE TABLE outgoing (
    seq      INTEGER PRIMARY KEY,
    id       TEXT    NOT NULL UNIQUE,
    act      TEXT    NOT NULL,
    turn     TEXT    NOT NULL DEFAULT '',
    session  TEXT    NOT NULL DEFAULT '',
    channel  TEXT    NOT NULL,
    chat     TEXT    NOT NULL,
    body     TEXT    NOT NULL,
    state    TEXT    NOT NULL DEFAULT 'waiting',
    attempts INTEGER NOT NULL DEFAULT 0,
    next     INTEGER NOT NULL DEFAULT 0,
    queued   INTEGER NOT NULL,
    sent     TEXT    NOT NULL DEFAULT '',
    failure  TEXT    NOT NULL DEFAULT ''
) STRICT;

CREATE INDEX outgoing_open ON outgoing (channel, seq) WHERE state IN ('waiting', 'sending');
CREATE INDEX outgoing_turn ON outgoing (turn) WHERE turn <> '';

-- What a driver keeps, such as its place in a stream of updates.
CREATE TABLE channel_state (
    channel TEXT NOT NULL,
    key     TEXT NOT NULL,
    value   TEXT NOT NULL,
    PRIMARY KEY (channel, key)
) STRICT, WITHOUT ROWID;
