//go:build race

package daemon_test

import (
	"database/sql"
	"testing"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// formerAsks makes the tables of what waits for a person those of the schemas before 13.
const formerAsks = `DROP TABLE reading_decided; DROP TABLE always_before; DROP INDEX journal_rules; DROP TABLE ask;
	CREATE TABLE approval (seq INTEGER PRIMARY KEY REFERENCES journal, id TEXT NOT NULL UNIQUE, session TEXT NOT NULL, turn TEXT NOT NULL, hash TEXT NOT NULL,
		decision TEXT NOT NULL DEFAULT '', comment TEXT NOT NULL DEFAULT '', edited TEXT NOT NULL DEFAULT '', closed INTEGER NOT NULL DEFAULT 0, client TEXT NOT NULL DEFAULT '') STRICT;
	CREATE TABLE question (seq INTEGER PRIMARY KEY REFERENCES journal, id TEXT NOT NULL UNIQUE, session TEXT NOT NULL, turn TEXT NOT NULL,
		answer TEXT NOT NULL DEFAULT '', client TEXT NOT NULL DEFAULT '', closed INTEGER NOT NULL DEFAULT 0) STRICT;`

// TestOldJournalIsIndexed: a kernel that finds the journal of an older one answers searches
// from the start, makes the index meanwhile, and says so until it is whole.
func TestOldJournalIsIndexed(t *testing.T) {
	in := newInstance(t, llmtest.Exchange{Reply: "Silk and tea.", Times: -1})
	k := in.start(t)
	e := in.editor(t, rpctest.Config{})
	ask(t, e, "q1", "What came from Samarkand?")
	ask(t, e, "q2", "And from Bukhara?")
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", in.paths.Journal)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(formerAsks + "DROP TABLE channel_state; DROP TABLE outgoing; DROP TABLE chat_message; DROP TABLE chat; DROP TABLE inbox; DROP TABLE queued_event; DROP TABLE lease; DROP TABLE armed; DROP TRIGGER journal_kept; CREATE TRIGGER journal_kept BEFORE DELETE ON journal BEGIN SELECT RAISE(ABORT, 'a row of the journal is never removed'); END; ALTER TABLE usage DROP COLUMN cached; ALTER TABLE usage DROP COLUMN first; ALTER TABLE usage DROP COLUMN streamed; ALTER TABLE usage DROP COLUMN writing; DROP TABLE archiving; DROP TABLE identity; DROP TABLE incident; ALTER TABLE turn DROP COLUMN stamp; ALTER TABLE turn DROP COLUMN settings; ALTER TABLE turn DROP COLUMN parent; ALTER TABLE session DROP COLUMN preset; DROP TABLE spawn; DROP TABLE digest; DROP TABLE correction; DROP TABLE completion; DROP TABLE search; DROP TABLE indexing; CREATE VIRTUAL TABLE search USING fts5(words, place, content = ''); PRAGMA user_version = 4"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	in.start(t)
	e = in.editor(t, rpctest.Config{})
	find := func() (ids string) {
		t.Helper()
		for p := (protocol.SessionSearchParams{Query: "samarkand"}); ; {
			var found protocol.SessionSearchResult
			if err := e.Call(within(t), protocol.MethodSessionSearch, p, &found); err != nil {
				t.Fatal(err)
			}
			for _, h := range found.Hits {
				ids += h.ID
			}
			if p.Before = found.Before; p.Before == 0 {
				return ids
			}
		}
	}
	if got := find(); got != "q1" {
		t.Errorf("at first %q is found", got)
	}
	until(t, "the index is whole", func() bool {
		var s protocol.StatusResult
		if err := e.Call(within(t), protocol.MethodStatus, protocol.Empty{}, &s); err != nil {
			t.Fatal(err)
		}
		return s.Unindexed == 0
	})
	if got := find(); got != "q1" {
		t.Errorf("then %q is found", got)
	}
}
