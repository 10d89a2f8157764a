package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// olderJournal returns the path of a journal as an older schema wrote it, with the rows of a file of
// testdata.
func olderJournal(t *testing.T, version int, rows string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "journal.db")
	var script strings.Builder
	for v := 1; v <= version; v++ {
		part, err := journal.Schemas().ReadFile(fmt.Sprintf("schema/%d.sql", v))
		must(t, err)
		script.Write(part)
	}
	old, err := os.ReadFile(filepath.Join("testdata", rows))
	must(t, err)
	script.Write(old)
	makeDatabase(t, path, script.String()+fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", journal.ApplicationID, version))
	return path
}

// TestOldCountsAreMended: counts that no reply can have had, which schema 15 took from servers, are added
// up no more. The others stay.
func TestOldCountsAreMended(t *testing.T) {
	j := reopen(t, olderJournal(t, 15, "counts-15.sql"))
	for _, by := range []protocol.UsageBy{protocol.UsageByTurn, protocol.UsageBySession, protocol.UsageByModel, protocol.UsageByDay, protocol.UsageTotal} {
		if _, err := j.Usage.Sum(t.Context(), by, "", time.Time{}, 0); err != nil {
			t.Errorf("by %s: %v", by, err)
		}
	}
	for session, want := range map[string]protocol.Usage{
		"main": {Replies: 4, Unpriced: 3, Input: 1000, Output: 20},
		"":     {Replies: 9, Unpriced: 5, Input: 1300, Output: 50},
	} {
		total, err := j.Usage.Sum(t.Context(), protocol.UsageTotal, session, time.Time{}, 0)
		must(t, err)
		if len(total) != 1 || total[0].Replies != want.Replies || total[0].Unpriced != want.Unpriced || total[0].Input != want.Input || total[0].Output != want.Output || total[0].Cost == nil {
			t.Errorf("the total of %q is %+v", session, total)
		}
	}
}
