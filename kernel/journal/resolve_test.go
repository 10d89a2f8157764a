package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"slices"
)

// TestResolve: each id stands for its own thing, and a beginning for what it is the
// beginning of, if that is one turn's.
func TestResolve(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	for i := range 3 {
		turn := accepted(t, j, fmt.Sprintf("question-%d", i), "main", "text")
		set(t, j, turn.ID, protocol.TurnRunning)
		must(t, j.Acts.PutAct(ctx, journal.Act{ID: fmt.Sprintf("answer-%d", i), Session: "main", Turn: turn.ID, Kind: journal.ActAnswer}))
		must(t, j.Acts.PutAct(ctx, journal.Act{ID: fmt.Sprintf("deed-%d%d", i, i), Session: "main", Turn: turn.ID, Kind: journal.ActAction}))
		must(t, j.Asks.PutAsk(ctx, asking(fmt.Sprintf("ask-%d", i), turn, "h")))
	}
	turn, err := j.Turns.TurnOfEvent(ctx, "question-1")
	must(t, err)
	for id, kind := range map[string]string{
		"question-1": "question", "answer-1": "answer", "deed-11": "action", "deed-1": "action", "ask-1": "approval", turn.ID: "turn",
	} {
		named, err := j.Records.Resolve(ctx, id)
		if err != nil || named.Kind != kind || named.Turn != turn.ID {
			t.Errorf("%s: %+v, %v", id, named, err)
		}
	}
	_, err = j.Records.Resolve(ctx, "question")
	wantCode(t, err, protocol.CodeConflict)
	if !strings.Contains(err.Error(), "question-0 (question), question-1 (question)") {
		t.Errorf("not said which: %v", err)
	}
	for _, id := range []string{"", "%", "question-3", "_uestion", strings.Repeat("x", 300), "a\x00b", "\xff", "' OR 1"} {
		if named, err := j.Records.Resolve(ctx, id); protocol.ErrorCode(err) != protocol.CodeNotFound && protocol.ErrorCode(err) != protocol.CodeInvalidParams {
			t.Errorf("%q: %+v, %v", id, named, err)
		}
	}
}

// TestResolveIsPrefixSearch: whatever the ids are, a text finds what it is the beginning
// of, and says so when that is more than one.
func TestResolveIsPrefixSearch(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	ids := map[string]string{}
	rapid.Check(t, func(r *rapid.T) {
		id := rapid.StringMatching(`[ab\x{1F600}é.:@]{1,6}`).Draw(r, "id")
		if !protocol.ValidID(id) {
			r.Skip()
		}
		turn := fmt.Sprintf("T%d", len(ids))
		if _, known := ids[id]; !known {
			if _, _, err := j.Turns.Accept(ctx, message(id, "main", "text"), turn); err != nil {
				r.Fatal(err)
			}
			ids[id] = turn
		}
		prefix := string([]rune(id)[:rapid.IntRange(1, len([]rune(id))).Draw(r, "length")])
		if !protocol.ValidID(prefix) {
			r.Skip()
		}
		want := ids[prefix]
		if want == "" {
			for other, turn := range ids {
				if strings.HasPrefix(other, prefix) && want != "" {
					want = "several"
				} else if strings.HasPrefix(other, prefix) {
					want = turn
				}
			}
		}
		named, err := j.Records.Resolve(ctx, prefix)
		if err != nil && protocol.ErrorCode(err) == protocol.CodeConflict {
			named.Turn = "several"
		}
		if named.Turn != want {
			r.Fatalf("%q finds %q, %v; want %q among %v", prefix, named.Turn, err, want, ids)
		}
	})
}

// TestOpenToRead: a journal is read beside its kernel and changed by nobody who only reads.
func TestOpenToRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	_, err := journal.OpenToRead(t.Context(), path)
	wantCode(t, err, protocol.CodeNotFound)
	if _, err := os.Stat(path); err == nil {
		t.Error("reading made a journal")
	}
	must(t, os.WriteFile(path, nil, 0o600))
	_, err = journal.OpenToRead(t.Context(), path)
	wantCode(t, err, protocol.CodeNotFound)

	j, err := journal.Open(t.Context(), path)
	must(t, err)
	defer j.Close()
	accepted(t, j, "q1", "main", "text")
	beside, err := journal.OpenToRead(t.Context(), path)
	must(t, err)
	defer beside.Close()
	if named, err := beside.Records.Resolve(t.Context(), "q1"); err != nil || named.Kind != "question" {
		t.Errorf("read beside: %+v, %v", named, err)
	}
	if _, _, err := beside.Turns.Accept(t.Context(), message("q2", "main", "text"), "t2"); err == nil {
		t.Error("an event was accepted")
	}
	if _, err := beside.Records.Append(t.Context(), journal.Entry{Kind: journal.KindLog}); err == nil {
		t.Error("a row was appended")
	}
	if faults, err := beside.Check(t.Context()); err != nil || faults != nil {
		t.Errorf("a sound journal: %v, %v", faults, err)
	}
	if beside.Size() == 0 {
		t.Error("it has no size")
	}
}

// TestCheckFindsDamage: pages that were overwritten are found.
func TestCheckFindsDamage(t *testing.T) {
	path, data := manyPages(t)
	for i := 5 * 4096; i < 30*4096; i++ {
		data[i] ^= 0x5a
	}
	must(t, os.WriteFile(path, data, 0o600))
	damaged, err := journal.OpenToRead(t.Context(), path)
	if err != nil {
		wantAdvice(t, err, "is damaged: \"org-agent stop\"")
		return
	}
	defer damaged.Close()
	faults, err := damaged.Check(t.Context())
	if len(faults) == 0 && err == nil {
		t.Error("the damage was not found")
	}
}

// TestCheckReadsEveryTable: a page of any table is examined, those in which the index of words is stored too.
func TestCheckReadsEveryTable(t *testing.T) {
	path, data := manyPages(t)
	for _, table := range []string{"journal", "turn", "session", "identity", "search_data", "journal_id"} {
		j := reopen(t, path)
		var root int
		must(t, j.QueryRow(t.Context(), "SELECT rootpage FROM sqlite_schema WHERE name = '"+table+"'").Scan(&root))
		damaged := slices.Clone(data)
		for i := (root - 1) * 4096; i < root*4096; i++ {
			damaged[i] ^= 0x5a
		}
		other := filepath.Join(t.TempDir(), "journal.db")
		must(t, os.WriteFile(other, damaged, 0o600))
		reader, err := journal.OpenToRead(t.Context(), other)
		must(t, err)
		faults, err := reader.Check(t.Context())
		if len(faults) == 0 && err == nil {
			t.Errorf("the damage of %s was not found", table)
		}
		must(t, reader.Close())
	}
}
