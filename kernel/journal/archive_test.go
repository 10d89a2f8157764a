package journal_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// longStory fills a journal with turns in which a model was asked and replied, and whose requests go on from each
// other. It returns what a reader gets of them.
func longStory(t *testing.T, j *journal.Journal, turns int, state protocol.TurnState) []string {
	t.Helper()
	base, random := int64(0), rand.NewChaCha8([32]byte{1})
	noise := func() string {
		bytes := make([]byte, 1500)
		random.Read(bytes)
		return hex.EncodeToString(bytes)
	}
	for i := range turns {
		id := fmt.Sprintf("q%d", i)
		turn := accepted(t, j, id, "main", "question "+id)
		for _, row := range []struct {
			kind journal.Kind
			data any
		}{
			{journal.KindModelRequest, map[string]any{"For": "chat", "Base": base, "Same": i, "SameSystem": i > 0, "System": strings.Repeat("be kind ", 30),
				"Messages": []map[string]string{{"Role": "user", "Content": id + " said " + noise()}}}},
			{journal.KindModelReply, map[string]any{"taken": 7, "seconds": 1.5, "text": "reply to " + id + noise()}},
			{journal.KindProposal, map[string]any{"action": "(say " + id + ")" + noise()}},
			{journal.KindVerdict, map[string]any{"verdict": "allowed", "why": strings.Repeat("a rule ", 100)}},
		} {
			data, err := json.Marshal(row.data)
			must(t, err)
			entry, err := j.Records.Append(t.Context(), journal.Entry{Kind: row.kind, Session: "main", Turn: turn.ID, Data: data})
			must(t, err)
			if row.kind == journal.KindModelRequest {
				base = entry.Seq
			}
		}
		must(t, j.Acts.PutAct(t.Context(), journal.Act{ID: "a-" + id, Session: "main", Turn: turn.ID, Event: id, Kind: journal.ActAnswer, Plain: "answer", Final: true}))
		_, err := j.Turns.SetTurn(t.Context(), journal.TurnChange{ID: turn.ID, State: state})
		must(t, err)
	}
	return allRows(t, j)
}

// allRows returns all rows as readers get them.
func allRows(t *testing.T, j *journal.Journal) (all []string) {
	t.Helper()
	for after := int64(0); ; {
		rows, err := j.Records.Entries(t.Context(), journal.Query{After: after})
		must(t, err)
		if len(rows) == 0 {
			return all
		}
		for _, row := range rows {
			var data any
			must(t, json.Unmarshal(row.Data, &data))
			text, err := json.Marshal(data)
			must(t, err)
			all = append(all, fmt.Sprint(row.Seq, " ", row.Time.UnixMicro(), " ", row.Kind, " ", row.Session, " ", row.Turn, " ", row.ID, " ", string(text)))
			after = row.Seq
		}
	}
}

func stubs(t *testing.T, j *journal.Journal) (n int) {
	t.Helper()
	must(t, j.QueryRow(t.Context(), "SELECT count(*) FROM journal WHERE json_type(data, '$.Archived') = 'text'").Scan(&n))
	return n
}

// TestArchive: what is old is in the archive and not in the journal, which becomes smaller; every reader gets the same
// as before, in this process and in others; what is not old, and what a turn that goes on may need, stays.
func TestArchive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := journal.Reopen(t, path)
	must(t, j.Exec(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)"))
	empty := j.Size() // tables and indices without rows have a page each
	longStory(t, j, 60, protocol.TurnAnswered)
	if moved, err := j.Archive.Move(t.Context(), time.Now().Add(-time.Hour)); moved != 0 || err != nil {
		t.Fatalf("%d rows of the last hour were archived, %v", moved, err)
	}
	if _, err := os.Stat(journal.ArchivePath(path)); err == nil {
		t.Error("an archive of nothing was made")
	}
	accepted(t, j, "waits", "main", "this one goes on") // the last turn's rows are those before it
	before := allRows(t, j)
	must(t, j.Exec(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)"))
	size := j.Size()
	moved, err := j.Archive.Move(t.Context(), time.Now().Add(time.Hour))
	if moved != 3*60 || err != nil || stubs(t, j) != 3*60 {
		t.Fatalf("%d rows were archived, and %d are stubs, %v", moved, stubs(t, j), err)
	}
	must(t, j.Exec(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)"))
	state, err := j.Archive.State(t.Context())
	if err != nil || state.Rows != 3*60 || state.Bytes == 0 || j.Size()-empty > (size-empty)/2 {
		t.Errorf("the journal had %d bytes and has %d, %d of them without rows, the archive is %+v, %v", size, j.Size(), empty, state, err)
	}
	if info, err := os.Stat(state.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the archive is %v, %v", info, err)
	}
	if after := allRows(t, j); !slices.Equal(before, after) {
		t.Errorf("what readers get has changed: %.300s\nwas %.300s", firstOther(after, before), firstOther(before, after))
	}
	beside, err := journal.OpenToRead(t.Context(), path)
	must(t, err)
	defer beside.Close()
	if after := allRows(t, beside); !slices.Equal(before, after) {
		t.Error("another process reads something else")
	}
	progress, err := j.Turns.Progress(t.Context(), "turn-q3")
	if err != nil || len(progress.Requests) != 1 || progress.Requests[0].For != "chat" || progress.Used.Tokens != 7 {
		t.Errorf("the progress is %+v, %v", progress, err)
	}
	if moved, err := j.Archive.Move(t.Context(), time.Now().Add(time.Hour)); moved != 0 || err != nil {
		t.Errorf("again %d, %v", moved, err)
	}
	checkWhole(t, j)
	if faults, err := j.Archive.Check(t.Context()); err != nil || len(faults) > 0 {
		t.Errorf("the archive: %v, %v", faults, err)
	}
}

func firstOther(of, than []string) string {
	for i, one := range of {
		if i >= len(than) || than[i] != one {
			return one
		}
	}
	return ""
}

// TestArchiveLeavesWhatIsNeeded: the rows of a turn that has not ended stay in the journal, and those of
// later turns that have are archived.
func TestArchiveLeavesWhatIsNeeded(t *testing.T) {
	j := fresh(t)
	longStory(t, j, 3, protocol.TurnRunning)
	if _, err := j.Turns.SetTurn(t.Context(), journal.TurnChange{ID: "turn-q1", State: protocol.TurnAnswered}); err != nil {
		t.Fatal(err)
	}
	accepted(t, j, "last", "main", "text")
	if moved, err := j.Archive.Move(t.Context(), time.Now().Add(time.Hour)); moved != 3 || err != nil {
		t.Errorf("%d, %v", moved, err)
	}
	var turns int
	must(t, j.QueryRow(t.Context(), "SELECT count(DISTINCT turn) FROM journal WHERE turn <> 'turn-q1' AND json_type(data, '$.Archived') = 'text'").Scan(&turns))
	if turns != 0 {
		t.Errorf("rows of %d turns that go on were archived", turns)
	}
	// Nobody else takes rows out, or changes one.
	for _, statement := range []string{
		`UPDATE journal SET data = '{"Archived":"x"}' WHERE kind = 'verdict'`, `UPDATE journal SET data = '{}' WHERE kind = 'model-reply'`,
		`DELETE FROM journal WHERE kind = 'model-reply'`, `UPDATE archiving SET moving = 999; DELETE FROM journal WHERE turn = 'turn-q1'`,
		`REPLACE INTO journal SELECT * FROM journal WHERE kind = 'verdict'`, `UPDATE archiving SET until = 0, moving = 999; DELETE FROM journal WHERE kind = 'verdict'`,
	} {
		if err := j.Exec(t.Context(), statement); err == nil {
			t.Errorf("%s is taken", statement)
		}
	}
}

// TestArchiveGone: where the archive was removed or is another one, readers are told which rows are missing, and
// get all else; what is archived later is in a new one.
func TestArchiveGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := journal.Reopen(t, path)
	longStory(t, j, 4, protocol.TurnAnswered)
	accepted(t, j, "last", "main", "text")
	archived, err := j.Archive.Move(t.Context(), time.Now().Add(time.Hour))
	must(t, err)
	must(t, j.Close())
	must(t, os.Remove(journal.ArchivePath(path)))
	j = journal.Reopen(t, path)
	missing := 0
	for _, row := range allRows(t, j) {
		if strings.Contains(row, `"Missing":"it was moved to the archive `) && strings.Contains(row, "there is no such file") {
			missing++
		}
	}
	if missing != archived {
		t.Errorf("%d of %d rows are missing", missing, archived)
	}
	// A request that goes on from one that is missing has its own part.
	data := fmt.Sprintf(`{"Base":%d,"Same":1,"SameSystem":true,"Messages":[{"Role":"user","Content":"only this%s"}]}`, firstRequest(t, j), strings.Repeat(" and this", 100))
	entry, err := j.Records.Append(t.Context(), journal.Entry{Kind: journal.KindModelRequest, Session: "main", Turn: "turn-last", Data: json.RawMessage(data)})
	must(t, err)
	rows, err := j.Records.Entries(t.Context(), journal.Query{After: entry.Seq - 1, Limit: 1})
	if err != nil || len(rows) != 1 || !strings.Contains(string(rows[0].Data), "only this") || !strings.Contains(string(rows[0].Data), `"Missing":`) {
		t.Errorf("%v, %v", rows, err)
	}
	if _, err := j.Turns.SetTurn(t.Context(), journal.TurnChange{ID: "turn-last", State: protocol.TurnAnswered}); err != nil {
		t.Fatal(err)
	}
	accepted(t, j, "later", "main", "text")
	if moved, err := j.Archive.Move(t.Context(), time.Now().Add(time.Hour)); moved != 1 || err != nil {
		t.Errorf("%d, %v", moved, err)
	}
}

func firstRequest(t *testing.T, j *journal.Journal) (seq int64) {
	t.Helper()
	must(t, j.QueryRow(t.Context(), "SELECT min(seq) FROM journal WHERE kind = 'model-request'").Scan(&seq))
	return seq
}

// TestArchiveDamaged: a damaged archive is salvaged when something is to be written to it, and this is told.
func TestArchiveDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := journal.Reopen(t, path)
	before := longStory(t, j, 40, protocol.TurnAnswered)
	archived, err := j.Archive.Move(t.Context(), time.Now().Add(time.Hour))
	must(t, err)
	must(t, j.Close())
	archive := journal.ArchivePath(path)
	file, err := os.ReadFile(archive)
	must(t, err)
	copy(file[len(file)/2/4096*4096:], make([]byte, 4096)) // a page in the middle
	copy(file[100:], "garbage")                            // and the page of the tables
	must(t, os.WriteFile(archive, file, 0o600))
	j = journal.Reopen(t, path)
	accepted(t, j, "more", "main", "text")
	data := `{"text":"` + strings.Repeat("long ", 100) + `"}`
	_, err = j.Records.Append(t.Context(), journal.Entry{Kind: journal.KindModelReply, Session: "main", Turn: "turn-more", Data: json.RawMessage(data)})
	must(t, err)
	_, err = j.Turns.SetTurn(t.Context(), journal.TurnChange{ID: "turn-more", State: protocol.TurnAnswered})
	must(t, err)
	accepted(t, j, "last", "main", "text")
	if _, err := j.Archive.Move(t.Context(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	incidents, err := j.Incidents(t.Context(), time.Time{})
	if err != nil || len(incidents) != 1 || !strings.Contains(incidents[0].Text, "The former file is kept as "+archive+".damaged-") {
		t.Errorf("told %v, %v", incidents, err)
	}
	lost := 0
	after := allRows(t, j)
	for i, row := range before {
		if after[i] == row {
			continue
		}
		if lost++; !strings.Contains(after[i], `"Missing":`) {
			t.Errorf("it is read as %.200s", after[i])
		}
	}
	if state, err := j.Archive.State(t.Context()); err != nil || state.Rows < archived*9/10 || lost > 60 {
		t.Errorf("of %d rows %+v, and %d read otherwise, %v", archived, state, lost, err)
	}
}

// TestArchiveEnds: at whichever statement the moving ends, each row is whole for readers, and the next
// call goes on.
func TestArchiveEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := journal.Reopen(t, path)
	longStory(t, j, 30, protocol.TurnAnswered)
	accepted(t, j, "last", "main", "text")
	before := allRows(t, j)
	must(t, j.Exec(t.Context(), "CREATE TEMP TABLE nth AS SELECT 0 AS n"))
	must(t, j.Exec(t.Context(), `CREATE TEMP TRIGGER stop BEFORE DELETE ON main.journal BEGIN
		UPDATE nth SET n = n + 1; SELECT RAISE(ROLLBACK, 'the end') WHERE (SELECT n FROM nth) >= 5; END`))
	if moved, err := j.Archive.Move(t.Context(), time.Now().Add(time.Hour)); err == nil {
		t.Fatalf("%d were moved", moved)
	}
	if after := allRows(t, j); !slices.Equal(before, after) {
		t.Error("readers get something else")
	}
	must(t, j.Exec(t.Context(), "DROP TRIGGER stop"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := j.Archive.Move(ctx, time.Now().Add(time.Hour)); err == nil {
		t.Error("it goes on without its context")
	}
	if moved, err := j.Archive.Move(t.Context(), time.Now().Add(time.Hour)); moved == 0 || err != nil {
		t.Errorf("%d, %v", moved, err)
	}
	if after := allRows(t, j); !slices.Equal(before, after) {
		t.Error("readers get something else after all")
	}
}
