package access

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"org-agent/kernel/org"
	"org-agent/kernel/tablefile"
	"org-agent/kernel/text"
)

// File is channels.org. It is read again at the next decision after it changed. It is safe for many goroutines.
type File struct {
	// Path is the path of the file, which need not exist: nobody may talk then.
	Path string

	once    sync.Once
	kept    tablefile.File
	reading sync.Mutex
	text    string
	rules   *Rules
}

// file returns the file itself.
func (f *File) file() *tablefile.File {
	f.once.Do(func() { f.kept.Path = f.Path })
	return &f.kept
}

// Rules returns the rules of the file as it is now.
func (f *File) Rules() *Rules {
	f.reading.Lock()
	defer f.reading.Unlock()
	text, err := f.file().Text()
	switch {
	case err != nil:
		fault := f.file().Unreadable(err)
		f.text, f.rules = "", &Rules{file: f.Path, unread: fault.Error(), faults: []tablefile.Fault{fault}}
	case f.rules == nil || f.rules.unread != "" || text != f.text:
		f.text, f.rules = text, Parse(text, f.Path)
	}
	return f.rules
}

const (
	// beginning is the text of a file that begins with its first row.
	beginning = "#+TITLE: Who may talk to the agent\n\n"
	// introduction is the text that the kernel writes above its first row.
	introduction = `* People

Who may talk to the agent. A row is written here when you say so, or when somebody sends a code that you made; you may
add, change and delete rows, and what you save counts at once.

`
	// whoLimit is how many characters of a name a row has.
	whoLimit = 60
)

// Set gives somebody a role: their row gets it, or a new one is added. who is what they are called, for people, and is
// cleaned. It is an error, and the file stays as it is, if the tables have faults, if the file is read-only, or if Emacs
// has unsaved changes of it.
func (f *File) Set(on, id, who string, role Role, now time.Time) error {
	return f.set(on, id, who, role, now, false)
}

// admit does the same for somebody who has no row, and fails for somebody who has one.
func (f *File) admit(on, id, who string, role Role, now time.Time) error {
	return f.set(on, id, who, role, now, true)
}

func (f *File) set(on, id, who string, role Role, now time.Time, onlyNew bool) error {
	on, id = strings.ToLower(strings.TrimSpace(on)), strings.TrimSpace(id)
	if strings.ContainsAny(on+id, "\r\n\t") || on == "" || id == "" {
		return fmt.Errorf("a row needs a channel and the id of somebody there")
	}
	if inert, why := org.IsInert("| " + cellOf(id) + " |\n"); !inert {
		return fmt.Errorf("the id %q would do something in an Org file (%s): write its row yourself if you want it", id, why)
	}
	return f.file().Change(func(source string) (string, error) {
		rules := Parse(source, f.Path)
		if len(rules.faults) > 0 {
			return "", rules.faults[0]
		}
		if source == "" {
			source = beginning
		}
		table := org.ReadSettingsTable(source, "People")
		cells := []string{on, id, named(who), string(role), now.Format("[2006-01-02 Mon]")}
		old, there := rules.people[[2]string{on, id}]
		if there && onlyNew {
			return "", fmt.Errorf("%s:%d is about them already: %s", f.Path, old.Line, old.Role)
		}
		if there && cells[2] == "" {
			cells[2] = old.Who
		}
		for i := range cells {
			cells[i] = cellOf(cells[i])
		}
		changed := table.Append(peopleColumns, cells, introduction)
		if there {
			row := slices.IndexFunc(table.Rows, func(row org.SettingsRow) bool { return row.Line == old.Line })
			changed = table.Replace(table.Rows[row], cells)
		}
		if read := Parse(changed, f.Path).people[[2]string{on, id}]; read.Role != role {
			return "", fmt.Errorf("the id %q cannot be written into a table", id)
		}
		return changed, nil
	})
}

// named returns what somebody is called for a cell: on one line, and so that nothing in it does anything in Org, because
// people call themselves anything.
func named(who string) string {
	cell := "| " + text.PlainLine(strings.ReplaceAll(who, "|", " "), whoLimit) + " |"
	held := strings.TrimSuffix(org.Inert(cell), "\n")
	name, whole := strings.CutPrefix(held, "| ")
	name, ended := strings.CutSuffix(name, " |")
	if !whole || !ended || strings.ContainsAny(name, "|\n") {
		return ""
	}
	return name
}

// cellOf returns a text as a cell has it, which [cellsOf] reads back.
func cellOf(text string) string {
	text = strings.ReplaceAll(text, "|", `\vert{}`)
	for _, sign := range []string{"=", "~"} {
		if len(text) > 2 && strings.HasPrefix(text, sign) && strings.HasSuffix(text, sign) {
			return sign + text + sign
		}
	}
	return text
}
