package skill

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"org-agent/kernel/fetch"
	"org-agent/kernel/org"
)

// grant is a row of the table. The note at a path has these capabilities as long as its blocks have
// this hash.
type grant struct {
	note         string // its path without links
	capabilities []string
	blocks       string
	since        string // the day, as 2026-11-22
	row          org.SettingsRow
}

// grantTable is the table under "Grants" in a policy.org. It does not change.
type grantTable struct {
	text   string
	table  *org.SettingsTable // nil if the file cannot be read
	grants map[string]grant   // by note; nil if anything is wrong
	faults []Diagnostic
}

// maximumPolicy is the maximum size of policy.org in bytes.
const maximumPolicy = 1 << 20

// readPolicy returns the text of policy.org, or "" if the file does not exist.
func readPolicy(path string) (string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); err == nil {
			return "", errors.New("it is a link that leads nowhere")
		}
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is no regular file")
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // the file was only read
	text, err := io.ReadAll(io.LimitReader(file, maximumPolicy+1))
	switch {
	case err != nil:
		return "", err
	case len(text) > maximumPolicy:
		return "", fmt.Errorf("it has more than %d bytes", maximumPolicy)
	case !utf8.Valid(text):
		return "", errors.New("it is not UTF-8; save it in that encoding")
	}
	return string(text), nil
}

// grantColumns are the columns of the table.
var grantColumns = []string{"note", "capabilities", "blocks", "since"}

// parseGrants parses the table under the heading "Grants". One faulty row invalidates the whole
// table, because half of a person's decision is not their decision.
func (g *Grants) parseGrants(text string) *grantTable {
	t := &grantTable{text: text, table: org.ReadSettingsTable(text, "Grants"), grants: map[string]grant{}}
	for i, row := range t.table.Rows {
		if i == 0 {
			if !slices.Equal(row.Cells, grantColumns) {
				g.fault(t, row.Line, "the table of grants begins with | note | capabilities | blocks | since |")
			}
			continue
		}
		g.addGrant(t, row)
	}
	if t.table.Again != 0 {
		g.fault(t, t.table.Again, "there is a second heading %q: keep all grants in one table", "Grants")
	}
	if len(t.faults) > 0 {
		t.grants = nil
	}
	return t
}

// addGrant adds the grant of a row to the table.
func (g *Grants) addGrant(t *grantTable, row org.SettingsRow) {
	found, err := g.parseRow(row.Cells)
	if err != nil {
		g.fault(t, row.Line, "%v; nothing of this table is granted until that is mended", err)
		return
	}
	if other, twice := t.grants[found.note]; twice {
		g.fault(t, row.Line, "%s stands in line %d already; nothing of this table is granted until one of them is gone", encodeName(found.note, false), other.row.Line)
		return
	}
	found.row = row
	t.grants[found.note] = found
}

func (g *Grants) fault(t *grantTable, line int, format string, arguments ...any) {
	if len(t.faults) == maximumDiagnostics {
		return
	}
	t.faults = append(t.faults, Diagnostic{File: g.config.File, Line: line, Column: 1, Message: fmt.Sprintf(format, arguments...)})
}

var (
	blocksHash = regexp.MustCompile(`^[0-9a-f]{64}$`)
	grantDay   = regexp.MustCompile(`^\[?(\d{4}-\d{2}-\d{2})( [^][<>]*)?\]?$`)
)

// parseRow reads the cells of a row.
func (g *Grants) parseRow(cells []string) (grant, error) {
	if len(cells) != len(grantColumns) {
		return grant{}, fmt.Errorf("the row has %d cells, not the four | note | capabilities | blocks | since | (a | in a name is written %%7C)", len(cells))
	}
	note, err := g.path(cells[0])
	if err != nil {
		return grant{}, fmt.Errorf("the note: %w", err)
	}
	row := grant{note: note, blocks: cells[2]}
	for word := range strings.FieldsSeq(cells[1]) {
		kind, what, ok := strings.Cut(word, ":")
		if !ok || what == "" || !slices.Contains(capabilityKinds, kind) {
			return grant{}, errors.New(capabilityFault(word, kind))
		}
		if kind == "read" || kind == "write" {
			if what, err = g.path(what); err != nil {
				return grant{}, fmt.Errorf("the capability %s: %w", encodeName(word, false), err)
			}
			what = encodeName(what, true)
		}
		if kind == "net" {
			server, err := fetch.ParseServer(what)
			if err != nil {
				return grant{}, fmt.Errorf("the capability %s: %w", encodeName(word, false), err)
			}
			what = server.String()
		}
		row.capabilities = append(row.capabilities, kind+":"+what)
	}
	day := grantDay.FindStringSubmatch(cells[3])
	switch {
	case len(row.capabilities) == 0:
		return grant{}, errors.New("the row grants nothing: delete it, or name capabilities")
	case !blocksHash.MatchString(row.blocks):
		return grant{}, fmt.Errorf("%q is not the SHA-256 of a note's blocks, 64 digits and small letters to f", row.blocks)
	case day == nil && cells[3] != "":
		return grant{}, fmt.Errorf("%q is no date such as [2026-11-22 Sun]", cells[3])
	case day != nil:
		row.since = day[1]
	}
	return row, nil
}
