package contacts_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"org-agent/kernel/channel"
	"org-agent/kernel/contacts"
	"org-agent/kernel/openfile"
	"org-agent/kernel/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is when most things here happen.
var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// open returns the book of a file with this text, in a new directory.
func open(t testing.TB, text string, editor openfile.Editor) (*contacts.Book, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "contacts.org")
	if text != "" {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ids := 0
	return contacts.New(contacts.Config{
		File: openfile.File{Path: path, Editor: editor}, Channels: func() []string { return []string{"telegram", "signal", "matrix"} }, Now: func() time.Time { return noon },
		NewID: func() string { ids++; return fmt.Sprintf("c%d", ids) }, Logger: slog.New(slog.DiscardHandler),
	}), path
}

func flush(t testing.TB, b *contacts.Book, path string) string {
	t.Helper()
	if err := b.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// family is a book that a person wrote.
const family = `#+TITLE: People
My notes on people.

* Ada Lovelace                                                     :friends:
:PROPERTIES:
:ID:       ada
:ALIASES:  mum "the boss"
:BIRTHDAY: 10 December
:TELEGRAM: 42 43
:SIGNAL:   +4930123
:LAST_ACTIVE: [2026-11-01 So 09:00]
:END:
She likes *engines*.
** Ideas
- a table of Bernoulli's numbers
* TODO call the plumber
* Grace Hopper
:PROPERTIES:
:MATRIX:   @grace:navy.example
:END:
* Nobody's business :noagent:
:PROPERTIES:
:TELEGRAM: 666
:END:
`

// TestSeen checks what is written of people and groups: a heading for those who are new, what a contact lacks, and when
// they were last active. Nothing else of the file changes.
func TestSeen(t *testing.T) {
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	ada := channel.Person{ID: "42", Name: "Ada", Username: "@ada"}
	for name, c := range map[string]struct {
		text string
		see  func(b *contacts.Book)
		want []string // lines that are added, in their order
		gone []string // lines that are gone
	}{
		"somebody new": {"", func(b *contacts.Book) {
			b.Seen("Telegram", ada, channel.Chat{ID: "42"}, at(0))
			b.Seen("telegram", ada, channel.Chat{ID: "42"}, at(3))
		}, []string{"* Ada", ":PROPERTIES:", ":ID:       c1", ":TELEGRAM: 42", ":TELEGRAM_USERNAME: ada", ":LAST_ACTIVE: [2026-12-01 Tue 12:03]", ":END:"}, nil},
		"in a room": {family, func(b *contacts.Book) {
			b.Seen("matrix", channel.Person{ID: "@Bob:x.example", Name: "Bob"}, channel.Chat{ID: "!Room:x.example", Title: "Garden", Group: true}, at(0))
		}, []string{"* Garden", ":PROPERTIES:", ":ID:       c1", ":MATRIX_GROUP: !Room:x.example", ":LAST_ACTIVE: [2026-12-01 Tue 12:00]", ":END:",
			"* Bob", ":PROPERTIES:", ":ID:       c2", ":MATRIX:   @Bob:x.example", ":LAST_ACTIVE: [2026-12-01 Tue 12:00]", ":END:"}, nil},
		"a thread of a known room": {"* Garden\n:PROPERTIES:\n:MATRIX_GROUP: !r:x\n:END:\n", func(b *contacts.Book) {
			b.Seen("matrix", channel.Person{ID: "@b:x", Name: "Bob"}, channel.Chat{ID: "!r:x/$thread", Title: "Beans", Group: true}, at(0))
		}, []string{":LAST_ACTIVE: [2026-12-01 Tue 12:00]", "* Bob", ":PROPERTIES:", ":ID:       c1", ":MATRIX:   @b:x", ":LAST_ACTIVE: [2026-12-01 Tue 12:00]", ":END:"}, nil},
		"who is known": {family, func(b *contacts.Book) {
			b.Seen("telegram", ada, channel.Chat{ID: "42"}, at(0))
		}, []string{":LAST_ACTIVE: [2026-12-01 Tue 12:00]", ":TELEGRAM_USERNAME: ada"}, []string{":LAST_ACTIVE: [2026-11-01 So 09:00]"}},
		"by another address": {family, func(b *contacts.Book) {
			b.Seen("telegram", channel.Person{ID: "43", Username: "ada2"}, channel.Chat{ID: "43"}, at(0))
		}, []string{":LAST_ACTIVE: [2026-12-01 Tue 12:00]"}, []string{":LAST_ACTIVE: [2026-11-01 So 09:00]"}},
		"with a chat of another name": {family, func(b *contacts.Book) {
			b.Seen("matrix", channel.Person{ID: "@grace:navy.example"}, channel.Chat{ID: "!dm:navy.example"}, at(0))
		}, []string{":MATRIX_CHAT: !dm:navy.example", ":LAST_ACTIVE: [2026-12-01 Tue 12:00]"}, nil},
		"who is withheld": {family, func(b *contacts.Book) {
			b.Seen("telegram", channel.Person{ID: "666", Name: "N."}, channel.Chat{ID: "666"}, at(0))
		}, nil, nil},
		"an id that no property can have": {family, func(b *contacts.Book) {
			b.Seen("signal", channel.Person{ID: "a\n:END:\n* Ada", Name: "N."}, channel.Chat{ID: "a"}, at(0))
		}, nil, nil},
		"a name that is no title": {"* Ada\n", func(b *contacts.Book) {
			b.Seen("signal", channel.Person{ID: "+49 30", Name: "TODO x"}, channel.Chat{ID: "+49 30"}, at(0))
			b.Seen("signal", channel.Person{ID: "+2", Name: "\u202e\n* evil\u200b  name\n:PROPERTIES:"}, channel.Chat{ID: "+2"}, at(1))
		}, []string{"* signal +49 30", ":PROPERTIES:", ":ID:       c1", ":SIGNAL:   \"+49 30\"", ":LAST_ACTIVE: [2026-12-01 Tue 12:00]", ":END:",
			"* signal +2", ":PROPERTIES:", ":ID:       c2", ":SIGNAL:   +2", ":LAST_ACTIVE: [2026-12-01 Tue 12:01]", ":END:"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b, path := open(t, c.text, nil)
			c.see(b)
			after := flush(t, b, path)
			added, gone := lineChanges(c.text, after)
			if c.text == "" {
				added = added[max(0, len(added)-1-len(c.want)) : len(added)-1] // behind the introduction
			}
			if strings.Join(added, "\n") != strings.Join(c.want, "\n") || strings.Join(gone, "\n") != strings.Join(c.gone, "\n") {
				t.Errorf("added:\n%s\ngone:\n%s\nof:\n%s", strings.Join(added, "\n"), strings.Join(gone, "\n"), after)
			}
			if again := flush(t, b, path); again != after {
				t.Errorf("it is written again:\n%s", again)
			}
		})
	}
}

// lineChanges returns the lines that only one of two texts has, by comparing both in order.
func lineChanges(before, after string) (added, gone []string) {
	old, new := strings.Split(before, "\n"), strings.Split(after, "\n")
	common := make([][]int, len(old)+1)
	for i := range common {
		common[i] = make([]int, len(new)+1)
	}
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(new) - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if old[i] == new[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	for i, j := 0, 0; i < len(old) || j < len(new); {
		switch {
		case i < len(old) && j < len(new) && old[i] == new[j]:
			i, j = i+1, j+1
		case j < len(new) && (i == len(old) || common[i][j+1] >= common[i+1][j]):
			added, j = append(added, new[j]), j+1
		default:
			gone, i = append(gone, old[i]), i+1
		}
	}
	return added, gone
}

// TestLastActiveRests checks that a busy conversation does not write the file for each message.
func TestLastActiveRests(t *testing.T) {
	b, path := open(t, family, nil)
	written := map[string]bool{}
	for minute := range 60 {
		b.Seen("telegram", channel.Person{ID: "42"}, channel.Chat{ID: "42"}, noon.Add(time.Duration(minute)*time.Minute))
		written[flush(t, b, path)] = true
	}
	if len(written) != 6 {
		t.Errorf("in an hour it was written %d times", len(written))
	}
}

// TestPersonsTextStays checks with people, names and texts at random that every line of the person's stays as it is.
func TestPersonsTextStays(t *testing.T) {
	lines := strings.Split(family, "\n")
	rapid.Check(t, func(r *rapid.T) {
		var text strings.Builder
		for _, line := range rapid.SliceOf(rapid.OneOf(rapid.SampledFrom(lines), rapid.StringMatching(`[ *:#|a-z]{0,12}`))).Draw(r, "lines") {
			if !strings.Contains(line, "LAST_ACTIVE") {
				text.WriteString(line + "\n")
			}
		}
		b, path := open(t, text.String(), nil)
		for range rapid.IntRange(1, 4).Draw(r, "people") {
			who := channel.Person{
				ID:   rapid.OneOf(rapid.SampledFrom([]string{"42", "43", "666", "@grace:navy.example"}), rapid.String()).Draw(r, "id"),
				Name: rapid.String().Draw(r, "name"), Username: rapid.String().Draw(r, "username"),
			}
			where := channel.Chat{ID: rapid.String().Draw(r, "chat"), Title: rapid.String().Draw(r, "title"), Group: rapid.Bool().Draw(r, "group")}
			b.Seen(rapid.SampledFrom([]string{"telegram", "matrix", "signal"}).Draw(r, "channel"), who, where, noon)
		}
		if err := b.Flush(context.Background()); err != nil {
			r.Fatal(err)
		}
		after, err := os.ReadFile(path)
		if err != nil && !(text.Len() == 0 && errors.Is(err, os.ErrNotExist)) {
			r.Fatal(err)
		}
		if _, gone := lineChanges(text.String(), string(after)); len(gone) > 0 && strings.Join(gone, "") != "" {
			r.Errorf("these lines are gone: %q of %q, which is %q now", gone, text.String(), after)
		}
		if _, err := b.All(); err != nil {
			r.Errorf("it cannot be read: %v", err)
		}
	})
}

// buffer is an editor with unsaved changes.
type buffer struct {
	text   string
	edited int
}

func (e *buffer) Unsaved(context.Context, string) (string, bool, error) { return e.text, true, nil }
func (e *buffer) Edit(_ context.Context, _, old, new string) error {
	if strings.Count(e.text, old) != 1 {
		return errors.New("not once")
	}
	e.text = strings.Replace(e.text, old, new, 1)
	e.edited++
	return nil
}

// TestUnsaved checks that a buffer with unsaved changes is changed, and not the file below it.
func TestUnsaved(t *testing.T) {
	e := &buffer{text: family + "* and this is not saved\n"}
	b, path := open(t, family, e)
	b.Seen("signal", channel.Person{ID: "+1", Name: "Bob"}, channel.Chat{ID: "+1"}, noon)
	if after := flush(t, b, path); after != family || !strings.Contains(e.text, "* and this is not saved\n* Bob\n") || e.edited != 1 {
		t.Errorf("the buffer is\n%s\nthe file is\n%s", e.text, after)
	}
	all, err := b.All()
	if err != nil || len(all) == 0 {
		t.Error(all, err)
	}
}

// TestRunWrites checks that what is seen is written a moment later, and at the end, and that a failure is told once and
// tried again.
func TestRunWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "home", "contacts.org") // no such directory yet
		var mu sync.Mutex
		var all [][]string
		told := func() [][]string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(all)
		}
		b := contacts.New(contacts.Config{File: openfile.File{Path: path}, Channels: func() []string { return []string{"signal"} }, Now: time.Now, NewID: func() string { return "c" },
			Report: func(problems []string) {
				mu.Lock()
				defer mu.Unlock()
				all = append(all, problems)
			}, Logger: slog.New(slog.DiscardHandler)})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- b.Run(ctx) }()
		b.Seen("signal", channel.Person{ID: "+1", Name: "Bob"}, channel.Chat{ID: "+1"}, time.Now())
		time.Sleep(time.Hour)
		synctest.Wait()
		if told := told(); len(told) != 1 || len(told[0]) != 1 {
			t.Errorf("after a failure it told %q", told)
		}
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "* Bob\n") || len(told()) != 2 || told()[1] != nil {
			t.Errorf("%v, %q: %s", err, told(), text)
		}
		b.Seen("signal", channel.Person{ID: "+2", Name: "Eve"}, channel.Chat{ID: "+2"}, time.Now())
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "* Eve\n") {
			t.Errorf("at the end: %v: %s", err, text)
		}
	})
}

// TestFind checks whom a query means.
func TestFind(t *testing.T) {
	b, _ := open(t, family+`* Zoë Müller
:PROPERTIES:
:ID: zm
:TELEGRAM: 7
:TELEGRAM_USERNAME: ZoeM
:END:
* Zoe Miller
:PROPERTIES:
:ID: miller
:SIGNAL: +7
:END:
* Garden Club
:PROPERTIES:
:MATRIX_GROUP: !Gc:x !gc:x
:END:
* Ada Nilsson
:PROPERTIES:
:ALIASES: mum
:MATRIX: @ada:x
:MATRIX_CHAT: !ada:x
:END:
`, nil)
	all, err := b.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ query, channel, here, name, target, code, says string }{
		{"the boss", "signal", "", "Ada Lovelace", "+4930123", "", ""},
		{"THE  Boss", "Signal", "", "Ada Lovelace", "+4930123", "", ""},
		{"ada love", "", "signal", "Ada Lovelace", "+4930123", "", ""},
		{"ada", "signal", "", "Ada Lovelace", "+4930123", "", ""},
		{"ada", "matrix", "", "Ada Nilsson", "!ada:x", "", ""},
		{"zoe muller", "", "", "Zoë Müller", "7", "", ""},
		{"@zoem", "", "", "Zoë Müller", "7", "", ""},
		{"zoe", "", "", "", "", "not-unique", "Zoë Müller (id zm, telegram 7); Zoe Miller (id miller, signal +7)"},
		{"miller", "", "", "Zoe Miller", "+7", "", ""}, // its id
		{"mum", "", "", "", "", "not-unique", "ada"},
		{"mum", "telegram", "", "", "", "not-unique", "telegram 42, telegram 43"},
		{"43", "", "", "Ada Lovelace", "43", "", ""},
		{"!gc:x", "", "", "Garden Club", "!gc:x", "", ""},
		{"!Gc:x", "", "", "Garden Club", "!Gc:x", "", ""},
		{"grace", "", "", "Grace Hopper", "@grace:navy.example", "", ""},
		{"grace", "telegram", "", "", "", "not-found", "there is Grace Hopper (matrix @grace:navy.example)"},
		{"grade hopper", "", "", "", "", "not-found", `did you mean "Grace Hopper"?`},
		{"nobody", "", "", "", "", "not-found", "no contact"},
		{"666", "", "", "", "", "not-found", "no contact"},
	} {
		contact, address, err := contacts.Find(all, c.query, c.channel, c.here)
		var failed *protocol.ToolError
		switch errors.As(err, &failed); {
		case failed == nil:
			if err != nil || contact.Name != c.name || address.Target() != c.target || c.code != "" {
				t.Errorf("%q on %q is %s at %s, %v", c.query, c.channel, contact.Name, address.Target(), err)
			}
		case string(failed.Code) != c.code || !strings.Contains(failed.Message, c.says):
			t.Errorf("%q on %q fails with %s: %s", c.query, c.channel, failed.Code, failed.Message)
		}
	}
}

// TestMerge checks that an entry of an address book of the person's is the contact with its name, one of its own where there
// is none or it is not known which, and that it is marked as theirs.
func TestMerge(t *testing.T) {
	ours := []contacts.Contact{
		{ID: "ada", Name: "Ada Lovelace", Aliases: []string{"mum"}, Addresses: []contacts.Address{{Channel: "signal", Person: "+1"}}},
		{ID: "z1", Name: "Zoe"}, {ID: "z2", Name: "Zoë"},
	}
	got := contacts.Merge(ours, []protocol.EmacsContact{
		{Name: "ADA LOVELACE", Aliases: []string{"Mum", "Countess"}, Emails: []string{"ada@x"}, Source: "bbdb"},
		{Name: "Zoe", Phones: []string{"+2"}, Source: "eudc"},
		{Name: "Grace", Phones: []string{"+3"}, Source: "org-contacts"},
	})
	text := ""
	for _, c := range got {
		text += fmt.Sprintf("%s %s %q from %q:", c.ID, c.Name, c.Aliases, c.Source)
		for _, a := range c.Addresses {
			text += " " + a.Channel + " " + a.Target()
		}
		text += "\n"
	}
	const want = `ada Ada Lovelace ["mum" "Countess"] from "bbdb": signal +1 email ada@x
z1 Zoe [] from "":
z2 Zoë [] from "":
 Zoe [] from "eudc": phone +2
 Grace [] from "org-contacts": phone +3
`
	if text != want || len(ours[0].Addresses) != 1 || ours[0].Source != "" {
		t.Errorf("%s", text)
	}
}
