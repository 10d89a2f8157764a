package archive

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// archived returns an instance with a reply of a model that is in the archive of its journal.
func archived(t *testing.T, reply string) config.Paths {
	t.Helper()
	paths := instanceWith(t, "old")
	j, err := journal.Open(t.Context(), paths.Journal)
	must(t, err)
	data, err := json.Marshal(map[string]string{"text": reply})
	must(t, err)
	_, err = j.Records.Append(t.Context(), journal.Entry{Kind: journal.KindModelReply, Session: "main", Turn: "t-old", Data: data})
	must(t, err)
	_, err = j.Turns.SetTurn(t.Context(), journal.TurnChange{ID: "t-old", State: protocol.TurnAnswered})
	must(t, err)
	_, _, err = j.Turns.Accept(t.Context(), protocol.Event{ID: "new", Session: "main", Sensor: protocol.SensorChatMessage, Text: "new"}, "t-new")
	must(t, err)
	if moved, err := j.Archive.Move(t.Context(), time.Now().Add(time.Hour)); moved != 1 || err != nil {
		t.Fatal(moved, err)
	}
	must(t, j.Close())
	return paths
}

func reply(t *testing.T, path string) string {
	t.Helper()
	j, err := journal.OpenToRead(t.Context(), path)
	must(t, err)
	defer j.Close()
	rows, err := j.Records.Entries(t.Context(), journal.Query{Kinds: []journal.Kind{journal.KindModelReply}})
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	return string(rows[0].Data)
}

// TestOldRequests: an export has what is in the archive of the journal, and an import puts it beside the
// journal. What was there stays beside the journal that it belongs to.
func TestOldRequests(t *testing.T) {
	from, to := archived(t, strings.Repeat("exported ", 100)), archived(t, strings.Repeat("replaced ", 100))
	var packed bytes.Buffer
	if done, err := Export(t.Context(), from, "1", &packed); err != nil || !done.Journal {
		t.Fatalf("%+v, %v", done, err)
	}
	done, err := Import(t.Context(), to, bytes.NewReader(packed.Bytes()), Options{Existing: Replace, Limit: 1 << 30})
	if err != nil || !done.JournalRestored || done.JournalBackup == "" {
		t.Fatalf("%+v, %v", done, err)
	}
	if got := reply(t, to.Journal); !strings.Contains(got, "exported") {
		t.Errorf("it is %.200s", got)
	}
	if got := reply(t, done.JournalBackup); !strings.Contains(got, "replaced") {
		t.Errorf("the former one is %.200s", got)
	}
	empty := instance(t)
	if done, err := Import(t.Context(), empty, bytes.NewReader(packed.Bytes()), Options{Limit: 1 << 30}); err != nil || !done.JournalRestored {
		t.Fatalf("%+v, %v", done, err)
	}
	if got := reply(t, empty.Journal); !strings.Contains(got, "exported") {
		t.Errorf("in a new place it is %.200s", got)
	}
	for _, paths := range []config.Paths{from, to, empty} {
		left, err := os.ReadDir(paths.State)
		must(t, err)
		for _, file := range left {
			if strings.Contains(file.Name(), "~") {
				t.Errorf("%s was left", file.Name())
			}
		}
	}
}

// TestOldRequestsDamaged: an archive whose part with old requests is damaged is refused.
func TestOldRequestsDamaged(t *testing.T) {
	from := archived(t, strings.Repeat("exported ", 100))
	must(t, os.WriteFile(journal.ArchivePath(from.Journal), bytes.Repeat([]byte("no database "), 1000), 0o600))
	if _, err := Export(t.Context(), from, "1", &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "journal-archive.db") {
		t.Errorf("exported: %v", err)
	}
}
