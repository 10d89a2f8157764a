package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"org-agent/kernel/atomicfile"
	"org-agent/kernel/journal"
	"org-agent/kernel/org"
)

// Store changes the memory, and journals each change so that it can be undone.
//
// A change is in the journal before it is in the file. A process that dies in between leaves a
// change that was not made, and undoing it reports that. Changes are made one at a time.
type Store struct {
	// Home is the directory of MEMORY.org and of memory/.
	Home    string
	Journal Journal
	NewID   func() string
	// Now returns the time where the person is.
	Now func() time.Time
	// Index indexes each change that was made. nil: nothing is indexed.
	Index *Index
	// Changed is called with each change that was made, before the method that made it returns. It
	// may be nil.
	Changed func(Change)
	// Held returns the tags that the person has chosen for tasks of the agent, which no record gets. nil: there are none.
	Held func() []string

	mu       sync.Mutex
	deciding sync.Mutex // held while a proposal is decided about, before mu
}

// Journal stores the changes. [journal.Journal] implements it.
type Journal interface {
	Append(ctx context.Context, entry journal.Entry) (journal.Entry, error)
	Entries(ctx context.Context, query journal.Query) ([]journal.Entry, error)
}

// Clean returns a record in a form that the agent may write, as [Record.Clean] does.
func (s *Store) Clean(r Record) (Record, error) {
	if s.Held == nil {
		return r.Clean()
	}
	return r.Clean(s.Held()...)
}

// publish indexes a change and calls Changed. If the change cannot be indexed now, it is indexed when the
// file is read the next time.
func (s *Store) publish(ctx context.Context, c Change) {
	if s.Index != nil {
		if err := s.Index.Take(ctx, c.Path); err != nil {
			s.Index.Logger.Warn("what was kept is not found yet", "file", c.Path, "err", err)
		}
	}
	if s.Changed != nil {
		s.Changed(c)
	}
}

// Operation is the kind of a change.
type Operation string

const (
	Saved     Operation = "saved"
	Updated   Operation = "updated"
	Forgotten Operation = "forgotten"
)

// Title returns the title of the record that was changed.
func (c Change) Title() string {
	text := c.After
	if text == "" {
		text = c.Before
	}
	if headings := org.Parse(text).Headings; len(headings) > 0 {
		return headings[0].Title
	}
	return ""
}

// Change is one change of a record, as the journal stores it.
type Change struct {
	ID        string    `json:"id"` // of the change
	Operation Operation `json:"operation"`
	Path      string    `json:"path"`
	Record    string    `json:"record"`           // its ID
	Before    string    `json:"before,omitempty"` // the record's Org text, "" if there was none
	After     string    `json:"after,omitempty"`
	Undoes    string    `json:"undoes,omitempty"` // the change that this one undid
	Undone    bool      `json:"-"`                // a later change undid this one
	Time      time.Time `json:"-"`
}

// ErrUndone is the error for undoing a change that was undone already, or was never made.
var ErrUndone = errors.New("it is not there any more, so there is nothing to undo")

// Save writes a new record: into MEMORY.org if it is lasting, otherwise into today's note. The
// record gets an ID and its time. turn is the turn in which it is made.
func (s *Store) Save(ctx context.Context, turn string, r Record, lasting bool) (Record, Change, error) {
	r, err := s.Clean(r)
	if err != nil {
		return r, Change{}, err
	}
	r.ID, r.Created = s.NewID(), s.Now().Truncate(time.Minute)
	path, err := s.place(r.Created, lasting)
	if err != nil {
		return r, Change{}, err
	}
	change, err := s.change(ctx, turn, path, Change{Operation: Saved, Record: r.ID, After: r.String()}, func(text string) (string, Record, error) {
		return addRecord(text, r), Record{}, nil
	})
	return r, change, err
}

// place returns the file for a new record: MEMORY.org for a lasting one, otherwise today's note. It
// never begins a file beside a Markdown file with the same name, which would no longer be read. In
// that case a lasting record goes into today's note.
func (s *Store) place(day time.Time, lasting bool) (string, error) {
	today := filepath.Join(s.Home, "memory", day.Format(time.DateOnly))
	names := []string{today}
	if lasting {
		names = []string{filepath.Join(s.Home, "MEMORY"), today}
	}
	for _, name := range names {
		if _, err := os.Lstat(name + markdownEnding); err != nil || !readsMarkdown(name+markdownEnding) {
			return name + ".org", nil
		}
	}
	return "", fmt.Errorf("%s%s would not be read any more if something were kept beside it: make it %s.org", today, markdownEnding, filepath.Base(today))
}

// Update sets the title, text, tags and scope of the agent's own record with that ID.
func (s *Store) Update(ctx context.Context, turn string, r Record) (Change, error) {
	r, err := s.Clean(r)
	if err != nil {
		return Change{}, err
	}
	_, path, err := s.Record(r.ID)
	if err != nil {
		return Change{}, err
	}
	return s.change(ctx, turn, path, Change{Operation: Updated, Record: r.ID, After: r.String()}, func(text string) (string, Record, error) {
		return updateRecord(text, r, s.Now().Location())
	})
}

// Forget removes the agent's own record with that ID.
func (s *Store) Forget(ctx context.Context, turn, id string) (Change, error) {
	_, path, err := s.Record(id)
	if err != nil {
		return Change{}, err
	}
	return s.change(ctx, turn, path, Change{Operation: Forgotten, Record: id}, func(text string) (string, Record, error) {
		return removeRecord(text, id, s.Now().Location())
	})
}

// Undo undoes a change, if nobody has changed its result since. Undoing is a change too.
func (s *Store) Undo(ctx context.Context, id string) (Change, error) {
	made, err := s.changeOf(ctx, id)
	if err != nil {
		return Change{}, err
	}
	back := Change{Operation: Updated, Record: made.Record, Undoes: id, After: made.Before}
	switch made.Operation {
	case Saved:
		back.Operation = Forgotten
	case Forgotten:
		back.Operation = Saved
	}
	return s.change(ctx, "", made.Path, back, func(text string) (string, Record, error) {
		current, err := own(text, made.Record, s.Now().Location())
		gone := errors.Is(err, ErrNotFound)
		switch {
		case gone && made.After == "":
			return add(text, made.Before), Record{}, nil
		case gone || err == nil && made.After == "":
			return text, current, ErrUndone
		case err != nil:
			return text, current, err
		case !same(text[current.Start:current.End], made.After):
			return text, current, errors.New("it was changed again since: undo the later change first")
		case made.Before == "":
			return removeRecord(text, made.Record, s.Now().Location())
		}
		return text[:current.Start] + withEnding(made.Before, text[current.Start:current.End]) + text[current.End:], current, nil
	})
}

// same reports whether two texts differ only in blank lines at their ends.
func same(a, b string) bool { return strings.TrimRight(a, "\n") == strings.TrimRight(b, "\n") }

// changeTries is how often a change is tried while another program changes the file.
const changeTries = 5

// change makes one change of a file. edit returns the changed text of the file, and the record as
// it was before, if there was one.
func (s *Store) change(ctx context.Context, turn, path string, c Change, edit func(text string) (string, Record, error)) (Change, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.ID, c.Path, c.Time = s.NewID(), path, s.Now()
	for tries := 0; ; tries++ {
		old, err := contents(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return c, fmt.Errorf("%s: %w", path, err)
		}
		text, was, err := edit(string(old))
		if err != nil {
			return c, err
		}
		if c.Before = ""; was.ID != "" {
			c.Before = was.source(string(old))
		}
		if c.After != "" {
			made, err := own(text, c.Record, s.Now().Location())
			if err != nil {
				return c, err
			}
			c.After = made.source(text)
		}
		if tries == 0 {
			err = s.remember(ctx, turn, c)
		}
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o755)
		}
		if err == nil {
			err = atomicfile.Replace(path, old, []byte(text), 0o644)
		}
		if err == nil {
			s.publish(ctx, c)
		}
		if !errors.Is(err, atomicfile.ErrChanged) || tries == changeTries {
			return c, err
		}
	}
}

// remember writes the change to the journal.
func (s *Store) remember(ctx context.Context, turn string, c Change) error {
	data, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("remember a change: %w", err)
	}
	_, err = s.Journal.Append(ctx, journal.Entry{Kind: journal.KindMemory, Turn: turn, ID: c.ID, Data: data})
	return err
}

// Latest returns the latest change that was not undone and undoes no other.
func (s *Store) Latest(ctx context.Context) (Change, error) {
	changes, err := s.Changes(ctx, 1000)
	if err != nil {
		return Change{}, err
	}
	for _, c := range changes {
		if c.Undoes == "" && !c.Undone {
			return c, nil
		}
	}
	return Change{}, errors.New("nothing was changed that could be taken back")
}

// Changes returns the latest changes, the latest first, at most 1,000.
func (s *Store) Changes(ctx context.Context, limit int) ([]Change, error) {
	entries, err := s.Journal.Entries(ctx, journal.Query{Kinds: []journal.Kind{journal.KindMemory}, Limit: limit, Latest: true})
	if err != nil {
		return nil, err
	}
	slices.Reverse(entries)
	changes := make([]Change, len(entries))
	undone := map[string]bool{}
	for i, entry := range entries {
		if changes[i], err = changeOf(entry); err != nil {
			return nil, err
		}
		undone[changes[i].Undoes] = true
		changes[i].Undone = undone[changes[i].ID]
	}
	return changes, nil
}

func (s *Store) changeOf(ctx context.Context, id string) (Change, error) {
	entries, err := s.Journal.Entries(ctx, journal.Query{Kinds: []journal.Kind{journal.KindMemory}, ID: id})
	if err != nil {
		return Change{}, err
	}
	if id == "" || len(entries) == 0 {
		return Change{}, fmt.Errorf("there is no change %q", id)
	}
	return changeOf(entries[0])
}

func changeOf(entry journal.Entry) (c Change, err error) {
	if err := json.Unmarshal(entry.Data, &c); err != nil {
		return c, fmt.Errorf("read the change %s: %w", entry.ID, err)
	}
	c.Time = entry.Time
	return c, nil
}

// Record returns the record with an ID, and its file.
func (s *Store) Record(id string) (Record, string, error) {
	if id == "" {
		return Record{}, "", ErrNotFound
	}
	return s.first(func(text string) bool { return strings.Contains(text, id) }, func(r Record) bool { return r.ID == id })
}

// Equal returns the record with the content and the scope of r, and its file, or the zero Record if
// there is none. The error is that of [Record.Clean].
func (s *Store) Equal(r Record) (Record, string, error) {
	r, err := s.Clean(r)
	if err != nil {
		return r, "", err
	}
	found, path, err := s.first(func(text string) bool { return strings.Contains(text, r.Title) }, func(other Record) bool {
		return other.ID != "" && other.Scope == r.Scope && other.Title == r.Title && strings.TrimSpace(other.Text) == r.Text
	})
	if errors.Is(err, ErrNotFound) {
		return Record{}, "", nil
	}
	return found, path, err
}

// first returns the first record that matches, and its file. It searches MEMORY.org first, then the
// days, the latest first. It does not parse texts that cannot contain the record.
func (s *Store) first(may func(text string) bool, is func(Record) bool) (Record, string, error) {
	days, err := filepath.Glob(filepath.Join(s.Home, "memory", "*.org"))
	if err != nil {
		return Record{}, "", fmt.Errorf("look through what is kept: %w", err)
	}
	slices.Reverse(days)
	for _, path := range append([]string{filepath.Join(s.Home, "MEMORY.org")}, days...) {
		text, err := contents(path)
		if err != nil || !may(string(text)) {
			continue // [Home.Persona] reports unreadable files
		}
		for _, r := range parseRecords(string(text), s.Now().Location()) {
			if is(r) {
				return r, path, nil
			}
		}
	}
	return Record{}, "", ErrNotFound
}
