//go:build sqlite3

package journal_test

import (
	"bytes"
	"cmp"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// recoveries is how many damaged files TestSalvageFindsWhatRecoverDoes makes.
const recoveries = 60

// TestSalvageFindsWhatRecoverDoes: of whatever is left of a journal, a salvage finds the rows that the command
// .recover of SQLite's own shell finds and that the journal had, and more. It may miss one in a thousand:
// among single bits that have changed, a row was missed here and there.
func TestSalvageFindsWhatRecoverDoes(t *testing.T) {
	whole := recoverable(t)
	truth := map[string]map[string]bool{}
	tables := tablesOf(t, whole)
	for _, table := range tables {
		truth[table] = rowsOf(t, whole, table)
	}
	if len(rowsOf(t, recoverBySQLite(t, whole), "journal")) != len(truth["journal"]) {
		t.Fatal("this sqlite3 was made without .recover: SQLITE3 names another one, which was made with SQLITE_ENABLE_DBPAGE_VTAB")
	}
	data, err := os.ReadFile(whole)
	must(t, err)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	theirs, ours, missed := 0, 0, 0
	for n := range recoveries {
		damaged := harm(bytes.Clone(data), random, n)
		directory := t.TempDir()
		path := filepath.Join(directory, "journal.db")
		must(t, os.WriteFile(path, damaged, 0o600))
		recovered := recoverBySQLite(t, path)
		if _, err := journal.SalvageFile(t.Context(), path, "was damaged"); err != nil {
			if found := len(recoveredRows(t, recovered, "journal", truth["journal"])); found > 0 {
				t.Errorf("seed %d, %d: nothing is salvaged (%v), and .recover finds %d rows", seed, n, err, found)
			}
			continue
		}
		for _, table := range tables {
			has := rowsOf(t, path, table)
			for row := range truth[table] {
				if has[row] {
					ours++
				}
			}
			for row := range recoveredRows(t, recovered, table, truth[table]) {
				theirs++
				if !has[row] && owed(t, path, table, row) {
					missed++
					t.Logf("seed %d, %d: .recover finds a row of %s that is not salvaged: %.200s", seed, n, table, row)
				}
			}
		}
	}
	t.Logf("%d files: .recover finds %d rows, the salvage %d, and misses %d of those", recoveries, theirs, ours, missed)
	if missed*1000 > theirs {
		t.Error("that is more than one in a thousand")
	}
}

// owed reports whether a salvage must have the row. A row of a table that says more of a row of the journal is of no
// use without that one, and is left out. That of a session is made again from its turns, and a question is closed
// with its turn. Of two rows that both have the number of one, because a bit of it changed, nobody knows which is right.
func owed(t *testing.T, path, table, row string) bool {
	t.Helper()
	first, _, _ := strings.Cut(row, "|")
	query := "SELECT 1 FROM journal WHERE seq = " + first
	switch table {
	case "journal":
		query = "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM journal WHERE seq = " + first + ")"
	case "ask":
		query = "SELECT 1 FROM journal WHERE seq = " + first + " AND NOT EXISTS (SELECT 1 FROM ask WHERE seq = " + first + ")"
	case "identity", "correction", "completion", "reading_decided", "always_before":
		return true
	case "session":
		query = "SELECT 1 FROM turn WHERE session = '" + first + "' AND NOT EXISTS (SELECT 1 FROM session WHERE name = turn.session)"
	}
	rows, err := read(t, path, query)
	must(t, err)
	return len(rows) > 0
}

// recoverable is a journal with rows in most tables, whose log is merged.
func recoverable(t *testing.T) string {
	t.Helper()
	h := newStateHome(t)
	h.talk(t, 120)
	j, _ := h.start(t)
	longStory(t, j, 40, protocol.TurnAnswered)
	turn := accepted(t, j, "asks", "main", "asks")
	must(t, j.Asks.PutAsk(t.Context(), questioning("f1", turn)))
	must(t, j.Close())
	return h.path
}

// harm damages a file in one of several ways.
func harm(data []byte, random *rand.Rand, n int) []byte {
	pageCount := len(data) / 4096
	garbage := func(part []byte) {
		for i := range part {
			part[i] = byte(random.Uint32())
		}
	}
	switch n % 6 {
	case 0:
		garbage(data[:100])
	case 1: // pages here and there
		for range 1 + random.IntN(pageCount/4) {
			at := random.IntN(pageCount) * 4096
			garbage(data[at : at+4096])
		}
	case 2:
		for range 1 + random.IntN(pageCount/4) {
			at := random.IntN(pageCount) * 4096
			clear(data[at : at+4096])
		}
	case 3:
		data = data[:4096+random.IntN(len(data)-4096)]
	case 4: // single bits
		for range 200 {
			data[4096+random.IntN(len(data)-4096)] ^= 1 << random.IntN(8)
		}
	default: // the headers of pages
		for range 1 + random.IntN(pageCount/4) {
			garbage(data[random.IntN(pageCount)*4096:][:12])
		}
	}
	return data
}

// recoverBySQLite returns the database that SQLite's shell makes of a copy of the file.
func recoverBySQLite(t *testing.T, path string) string {
	t.Helper()
	copied, recovered := path+"-copy", path+"-recovered"
	data, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(copied, data, 0o600))
	shell := cmp.Or(os.Getenv("SQLITE3"), "sqlite3")
	script, _ := exec.CommandContext(t.Context(), shell, copied, ".recover --ignore-freelist").Output() // what it could not read it says, and goes on
	run := exec.CommandContext(t.Context(), shell, recovered)
	run.Stdin = bytes.NewReader(script)
	_ = run.Run() // a statement that fails does not end it
	return recovered
}

func read(t *testing.T, path, query string) (rows [][]any, err error) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer db.Close()
	result, err := db.QueryContext(t.Context(), query)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	names, err := result.Columns()
	must(t, err)
	for result.Next() {
		row := make([]any, len(names))
		into := make([]any, len(names))
		for i := range row {
			into[i] = &row[i]
		}
		must(t, result.Scan(into...))
		rows = append(rows, row)
	}
	return rows, result.Err()
}

func tablesOf(t *testing.T, path string) (names []string) {
	t.Helper()
	rows, err := read(t, path, "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT IN ('indexing', 'incident') AND substr(name, 1, 7) <> 'sqlite_'")
	must(t, err)
	for _, row := range rows {
		names = append(names, row[0].(string))
	}
	return names
}

// text is a row as a text that is the same for equal rows.
func text(row []any) string {
	var b strings.Builder
	for _, value := range row {
		if bytes, ok := value.([]byte); ok {
			value = string(bytes)
		}
		fmt.Fprintf(&b, "%v|", value)
	}
	return b.String()
}

// rowsOf returns the rows of a table, none if there is no such table.
func rowsOf(t *testing.T, path, table string) map[string]bool {
	t.Helper()
	rows, _ := read(t, path, "SELECT * FROM "+table)
	all := map[string]bool{}
	for _, row := range rows {
		all[text(row)] = true
	}
	return all
}

// recoveredRows returns which true rows of a table .recover has, also among those of which it does not know the table.
func recoveredRows(t *testing.T, recovered, table string, truth map[string]bool) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for row := range rowsOf(t, recovered, table) {
		if truth[row] {
			all[row] = true
		}
	}
	columns, width := 0, 0
	for row := range truth {
		columns = strings.Count(row, "|")
		break
	}
	rows, _ := read(t, recovered, "SELECT id, * FROM lost_and_found")
	for _, row := range rows {
		if width = len(row) - 5; width < columns || columns == 0 {
			continue
		}
		for _, values := range [][]any{row[5 : 5+columns], append([]any{row[0]}, row[6:5+columns]...)} { // with its number, or with the number in the place of the first
			if one := text(values); truth[one] {
				all[one] = true
			}
		}
	}
	return all
}
