package tool

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"org-agent/kernel/files"
	"org-agent/kernel/orgquery"
	"org-agent/kernel/protocol"
)

//go:embed org_edit.md
var orgEditManual string

type orgEditArguments struct {
	ID         string              `doc:"the entry's :ID:"`
	File       string              `doc:"the file, if the entry has no :id or the :id is not known"`
	Heading    []string            `doc:"the entry's title; put the titles above it in front if several entries have that title"`
	Seen       string              `doc:"text that you saw in the entry and that must still be there" seldom:"true"`
	New        bool                `doc:"add a new entry"`
	Where      string              `doc:"the place of the new entry" words:"child sibling"`
	Title      *string             `doc:"its title"`
	Todo       *string             `doc:"its keyword"`
	Priority   *string             `doc:"as A" seldom:"true"`
	Tags       []string            `doc:"tags to add"`
	Untag      []string            `doc:"tags to remove" seldom:"true"`
	Properties []orgEditProperties `doc:"properties to set"`
	Scheduled  *string             `doc:"such as 2026-11-30, 2026-11-30 10:00-11:00 or +3d; add +1w for a repeating entry"`
	Deadline   *string             `doc:"as :scheduled"`
	Timestamp  string              `doc:"for a new entry: its time, written like :scheduled" seldom:"true"`
	Body       *string             `doc:"the text below the heading, replacing the present text"`
	Under      []string            `doc:"move it below the entry with this title, in the same file"`
	NewID      string              `doc:"the new entry's :ID:" internal:"true"`
	Change     string              `doc:"the hash of the change" internal:"true"`
}

type orgEditProperties struct {
	Name  string `doc:"its name" required:"true"`
	Value string `doc:"its value; without one the property is removed"`
}

// orgChange is the change that a call would make.
type orgChange struct {
	path          string
	before, after string // of the whole file, with plain line ends
	old, new      string // of the part that differs
	inEmacs       bool   // a buffer visits the file
	returns       bool   // the file's lines end in \r\n on the disk
	did           string
	summary       string
}

// known returns the hash that identifies the change.
func (c orgChange) known() string {
	return files.Hash([]byte(c.path + "\x00" + c.old + "\x00" + c.new))
}

// inBuffer is the effect of a change that Emacs makes.
const inBuffer = "it changes the file in its buffer in Emacs, where one undo takes that back, and saves it unless you have unsaved changes there"

func orgEdit(n Notes) Tool {
	return New(Definition[orgEditArguments]{
		Name: "org_edit", Manual: orgEditManual, Private: true, Offered: n.there,
		Reach: func(ctx context.Context, by *Caller, a *orgEditArguments) ([]protocol.Reach, error) {
			if err := by.alone(); err != nil {
				return nil, err
			}
			if err := n.address(ctx, by, a); err != nil {
				return nil, err
			}
			if a.New && a.NewID == "" {
				a.NewID = n.NewID()
			}
			c, err := n.change(ctx, by, *a)
			if err == nil {
				a.Change = c.known()
			}
			if n.own(a.File) && !(n.Unread != nil && n.Unread(a.File)) { // notes are read without asking
				return setting([]protocol.Reach{{Kind: protocol.ReachWrites, Path: a.File}}, a.File, c.before, c.after), err
			}
			if ctx.Err() != nil {
				return nil, err
			}
			// Perform reports the error, which may have text of the file.
			return setting(changes(a.File), a.File, c.before, c.after), nil
		},
		Preview: func(ctx context.Context, by *Caller, a orgEditArguments) (Preview, error) {
			c, err := n.change(ctx, by, a)
			if err != nil {
				return Preview{}, err
			}
			where := "it changes the file; no buffer of Emacs has it"
			if c.inEmacs {
				where = inBuffer
			}
			return Preview{Summary: c.summary, File: c.path, Before: c.before, After: c.after, Effects: []string{c.did, where}}, nil
		},
		Stale: func(ctx context.Context, by *Caller, a orgEditArguments) error {
			_, err := n.change(ctx, by, a)
			if err == nil {
				return nil
			}
			switch code := protocol.ToolErrorOf(err).Code; code {
			case protocol.ToolChanged:
				return protocol.ToolErrorf(code, "the entry in %s, or what is around it, is not what it was when this was proposed", n.short(a.File))
			case protocol.ToolNotFound:
				return protocol.ToolErrorf(code, "there is no such entry in %s", n.short(a.File))
			}
			return err
		},
		Change: func(ctx context.Context, by *Caller, a orgEditArguments) (string, files.Change, error) {
			c, err := n.change(ctx, by, a)
			if err != nil {
				return "", files.Change{}, err
			}
			return n.make(ctx, by, c, a.NewID)
		},
	})
}

// address finds the file of a call, and puts its name into the arguments.
func (n Notes) address(ctx context.Context, by *Caller, a *orgEditArguments) error {
	switch {
	case a.File == "" && a.ID == "":
		return protocol.ToolErrorf(protocol.ToolArguments, "name the entry: :id, or :file and :heading")
	case a.File != "":
		if err := n.resolve(&a.File); err != nil {
			return err
		}
	default:
		path, err := n.fileOf(ctx, by, a.ID)
		if err != nil {
			return err
		}
		a.File = path
	}
	if filepath.Ext(a.File) != ".org" {
		return protocol.ToolErrorf(protocol.ToolUnfit, "%s is no Org file: write and edit change others", n.short(a.File))
	}
	return nil
}

// fileOf finds the file with an entry. It asks Emacs first, and then searches the notes.
func (n Notes) fileOf(ctx context.Context, by *Caller, id string) (string, error) {
	has, err := n.ask(ctx, by, protocol.EmacsNotesParams{Entry: id, File: "/"})
	if err != nil && ctx.Err() != nil {
		return "", err
	}
	if has.Entry != "" {
		if path, exists, err := files.Resolve(has.Entry, n.Home); err == nil && exists {
			return path, nil
		}
	}
	missing := protocol.ToolErrorf(protocol.ToolNotFound, "no entry with the :ID: %s is known to Emacs or in the notes: name its :file and :heading", id)
	if _, err := n.named(ctx, by, nil); err != nil {
		return "", missing
	}
	l, err := n.readNotes(ctx, by, nil)
	if err != nil {
		return "", err
	}
	for _, f := range l.files {
		if slices.ContainsFunc(f.Entries, func(e orgquery.Entry) bool { return e.OwnID() == id }) {
			return f.Path, nil
		}
	}
	return "", missing
}

// change returns the change that a call would make now. If the call was judged, the change must
// still be the same.
func (n Notes) change(ctx context.Context, by *Caller, a orgEditArguments) (c orgChange, err error) {
	c.path = a.File
	f, err := textOf(ctx, n, by, &c)
	if err != nil {
		return c, err
	}
	if err := n.apply(&c, f, a); err != nil {
		return c, err
	}
	if c.after == c.before {
		return c, protocol.ToolErrorf(protocol.ToolArguments, "the entry is so already: nothing is to be done")
	}
	c.old, c.new = orgquery.Narrow(c.before, c.after)
	if a.Change != "" && a.Change != c.known() {
		return c, protocol.ToolErrorf(protocol.ToolChanged, "the entry or what is around it is not what it was when this was judged%s", now(f, a))
	}
	return c, nil
}

// textOf fills in the text of the file that is changed: that of the buffer in Emacs which is not saved, and else that on the disk.
func textOf(ctx context.Context, n Notes, by *Caller, c *orgChange) (*orgquery.File, error) {
	has, err := n.ask(ctx, by, protocol.EmacsNotesParams{File: c.path})
	if err != nil && !errors.Is(err, ErrNoEmacs) {
		return nil, fmt.Errorf("ask Emacs for what it has of %s: %w", n.short(c.path), err)
	}
	if len(has.Unsaved) == 1 && has.Unsaved[0].File == c.path {
		c.before, c.inEmacs = has.Unsaved[0].Text, true
	} else if slices.Contains(has.TooLarge, c.path) {
		return nil, protocol.ToolErrorf(protocol.ToolTooLarge, "%s is too large to be changed here", n.short(c.path))
	} else if err := c.read(ctx); err != nil {
		return nil, err
	}
	return orgquery.Read(orgquery.Source{Path: c.path, Text: c.before, Sequences: has.Sequences, Held: tagsOf(n.Held)}), nil
}

// read reads the text from the disk.
func (c *orgChange) read(ctx context.Context) error {
	content, err := files.Whole(ctx, c.path)
	if err != nil {
		return err
	}
	c.before = string(content)
	returns := strings.Count(c.before, "\r\n")
	c.returns = returns > 0
	if c.returns && returns != strings.Count(c.before, "\n") {
		return protocol.ToolErrorf(protocol.ToolUnfit, "some lines of %s end in \\r\\n and some do not: edit changes it", c.path)
	}
	c.before = strings.ReplaceAll(c.before, "\r\n", "\n")
	return nil
}

// apply fills in the file's text after the change.
func (n Notes) apply(c *orgChange, f *orgquery.File, a orgEditArguments) error {
	if a.New && a.ID == "" && len(a.Heading) == 0 {
		entry, err := a.newEntry(n)
		if err == nil {
			c.after, err = f.Below(nil, entry)
		}
		c.summary, c.did = "Make an entry in "+n.short(c.path), "it makes the entry "+entry.Title+" at the end of the file"
		return err
	}
	e, err := f.Find(a.ID, a.Heading)
	if err != nil {
		return err
	}
	if whole := f.Text[e.Start:e.Next]; a.Seen != "" && !strings.Contains(whole, strings.ReplaceAll(a.Seen, "\r\n", "\n")) {
		return protocol.ToolErrorf(protocol.ToolChanged, "the entry does not have that text%s", now(f, a))
	}
	switch {
	case !a.New && (a.Timestamp != "" || a.Where != ""):
		err = protocol.ToolErrorf(protocol.ToolArguments, ":timestamp and :where are for a :new entry")
	case a.New:
		err = n.applyNew(c, f, e, a)
	case len(a.Under) > 0 && a.changesIt():
		err = protocol.ToolErrorf(protocol.ToolArguments, "an entry is moved or changed, not both in one call")
	case len(a.Under) > 0:
		under, missing := f.Find("", a.Under)
		if err = missing; err == nil {
			c.after, err = f.Move(e, under)
		}
		c.summary, c.did = "Move "+e.Title, fmt.Sprintf("it moves %s below %s", e.Title, under.Title)
	default:
		var did []string
		c.after, did, err = f.Apply(e, a.changes(n))
		c.summary, c.did = "Change "+e.Title, e.Title+": "+strings.Join(did, "; ")
	}
	return err
}

func (n Notes) applyNew(c *orgChange, f *orgquery.File, e orgquery.Entry, a orgEditArguments) error {
	entry, err := a.newEntry(n)
	if err != nil {
		return err
	}
	c.summary = "Make an entry by " + e.Title
	if a.Where == "sibling" {
		c.did = fmt.Sprintf("it makes the entry %s behind %s", entry.Title, e.Title)
		c.after, err = f.Behind(e, entry)
		return err
	}
	c.did = fmt.Sprintf("it makes the entry %s below %s", entry.Title, e.Title)
	c.after, err = f.Below(&e, entry)
	return err
}

// now describes the entry as it is, for an error.
func now(f *orgquery.File, a orgEditArguments) string {
	e, err := f.Find(a.ID, a.Heading)
	if err != nil {
		return "; look at it again"
	}
	text := strings.ToValidUTF8(f.Text[e.Start:min(e.Next, e.Start+queryBody)], "")
	return "; it is now:\n" + strings.TrimRight(text, "\n")
}

func (a orgEditArguments) settings() []orgquery.Setting {
	var all []orgquery.Setting
	for _, p := range a.Properties {
		all = append(all, orgquery.Setting(p))
	}
	return all
}

// changesIt reports whether the entry itself changes.
func (a orgEditArguments) changesIt() bool {
	return a.Title != nil || a.Todo != nil || a.Priority != nil || a.Scheduled != nil || a.Deadline != nil || a.Body != nil ||
		len(a.Tags)+len(a.Untag)+len(a.Properties) > 0
}

// changes returns the changes of the entry.
func (a orgEditArguments) changes(n Notes) orgquery.Change {
	return orgquery.Change{
		Title: a.Title, Todo: a.Todo, Priority: a.Priority, Tags: a.Tags, Untagged: a.Untag, Properties: a.settings(),
		Scheduled: a.Scheduled, Deadline: a.Deadline, Body: a.Body, Now: n.Now(),
	}
}

// newEntry returns the entry that the arguments describe.
func (a orgEditArguments) newEntry(n Notes) (orgquery.New, error) {
	if len(a.Untag)+len(a.Under) > 0 {
		return orgquery.New{}, protocol.ToolErrorf(protocol.ToolArguments, "a new entry has no :untag and no :under")
	}
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	return orgquery.New{
		Title: text(a.Title), Todo: text(a.Todo), Priority: text(a.Priority), Tags: a.Tags, Properties: a.settings(), ID: a.NewID,
		Scheduled: text(a.Scheduled), Deadline: text(a.Deadline), Timestamp: a.Timestamp, Body: text(a.Body), Now: n.Now(),
	}, nil
}

// make makes the change, in the buffer if one visits the file, and otherwise on the disk.
func (n Notes) make(ctx context.Context, by *Caller, c orgChange, id string) (string, files.Change, error) {
	saved := true
	change := files.Change{Path: c.path, Before: []byte(c.before), After: []byte(c.after)}
	if c.inEmacs {
		receipt, err := n.Emacs.Edit(ctx, by.Conversation, c.path, c.old, c.new)
		if err != nil {
			return "", change, err
		}
		saved = receipt.Saved
	} else {
		before, after := c.before, c.after
		if c.returns {
			before, after = strings.ReplaceAll(before, "\n", "\r\n"), strings.ReplaceAll(after, "\n", "\r\n")
		}
		var err error
		if change, err = files.Rewriting(ctx, c.path, files.Hash([]byte(before)), []byte(after)); err == nil {
			err = change.Make()
		}
		if err != nil {
			return "", change, err
		}
	}
	text := fmt.Sprintf("%s (%s)", strings.ToUpper(c.did[:1])+c.did[1:], n.short(c.path))
	if id != "" {
		text += "; its :ID: is " + id
	}
	if !saved {
		text += "; the buffer of Emacs had unsaved work and is not saved"
	}
	return text + ".", change, nil
}
