package journal_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"testing"

	"org-agent/kernel/journal"
)

// rowsAndActs returns the rows of a journal that nobody has open, and its acts.
func rowsAndActs(t *testing.T, path string) (all []string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), `SELECT seq || ' ' || kind || ' ' || turn || ' ' || id || ' ' || data FROM journal
		UNION ALL SELECT seq || ' ' || id || ' ' || turn || ' ' || kind || ' ' || saved FROM act ORDER BY 1`)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var one string
		must(t, rows.Scan(&one))
		all = append(all, one)
	}
	must(t, rows.Err())
	return all
}

// TestSalvageOfChangedBits: a row of which one bit changed that says how long the row is, that its first value is
// its number, or which id it has, is salvaged with the values that it had, and takes no other row's place.
func TestSalvageOfChangedBits(t *testing.T) {
	process := os.Getpid()
	inJournal, inActs := fmt.Sprintf(`actmainturn-q%d-4a-q%[1]d-4{"event"`, process), fmt.Sprintf("a-q%d-4mainturn-q", process)
	const header = 17 // bytes before the text of a row of the journal, with its time; before those are its number and its size
	for name, change := range map[string]func(data []byte){
		"its size":         func(data []byte) { setBit(&data[bytes.Index(data, []byte(inJournal))-header-2], 0x7f) },
		"its size, by far": func(data []byte) { setBit(&data[bytes.Index(data, []byte(inJournal))-header-3], 0x20) },
		"its number":       func(data []byte) { setBit(&data[bytes.Index(data, []byte(inJournal))-header+1], 0x08) },
		"its id": func(data []byte) {
			setBit(&data[bytes.Index(data, []byte(inActs))+len(inActs)-len("4mainturn-q")], 0x01)
		},
	} {
		h := newStateHome(t)
		h.talk(t, 8)
		data, err := os.ReadFile(h.path)
		must(t, err)
		want := rowsAndActs(t, h.path)
		at := bytes.Index(data, []byte(inJournal))
		if at < 0 || !bytes.Contains(data, []byte(inActs)) || len(want) != 4*8 || data[at-header] != 9 || data[at-header+1] != 0 {
			t.Fatalf("the rows are not found: %d, %d rows", at, len(want))
		}
		change(data)
		must(t, os.WriteFile(h.path, data, 0o600))
		if _, err := journal.SalvageFile(t.Context(), h.path, "was damaged"); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := rowsAndActs(t, h.path); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %d rows, not %d: %.2000q", name, len(got), len(want), got)
		}
	}
}

// setBit sets the lowest bit of a byte that is not set, of those in the mask.
func setBit(b *byte, mask byte) {
	for bit := byte(1); bit != 0; bit <<= 1 {
		if mask&bit != 0 && *b&bit == 0 {
			*b |= bit
			return
		}
	}
}
