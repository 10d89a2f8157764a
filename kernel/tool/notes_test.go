package tool_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/files"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skillmd"
	"org-agent/kernel/tool"
)

// desk is an Emacs with the data of a test. For anything else it knows nothing.
type desk struct {
	notes  protocol.EmacsNotes
	agenda func(protocol.EmacsAgendaParams) (protocol.EmacsAgenda, error)
	err    error
	edited []string
}

func (d *desk) Notes(_ context.Context, _ tool.Conversation, p protocol.EmacsNotesParams) (protocol.EmacsNotes, error) {
	notes := d.notes
	if p.File != "" {
		notes.Unsaved = slices.DeleteFunc(slices.Clone(notes.Unsaved), func(t protocol.EmacsText) bool { return t.File != p.File })
	}
	return notes, d.err
}

func (d *desk) Agenda(_ context.Context, _ tool.Conversation, p protocol.EmacsAgendaParams) (protocol.EmacsAgenda, error) {
	return d.agenda(p)
}

func (d *desk) Buffers(context.Context, tool.Conversation, protocol.EmacsBuffersParams) (protocol.EmacsBuffers, error) {
	return protocol.EmacsBuffers{}, tool.ErrNoEmacs
}

func (d *desk) Read(context.Context, tool.Conversation, protocol.EmacsReadParams) (protocol.EmacsRead, error) {
	return protocol.EmacsRead{}, tool.ErrNoEmacs
}

func (d *desk) Edit(_ context.Context, _ tool.Conversation, file, old, new string) (protocol.Receipt, error) {
	d.edited = append(d.edited, old, new)
	return protocol.Receipt{Done: true, File: file}, nil
}

const plan = "* Garden :home:\n** TODO Roses\nSCHEDULED: <2026-03-02 Mon>\n:PROPERTIES:\n:ID: roses\n:END:\nTwo cans.\n** DONE Prune\n* TODO Secret :noagent:\nSCHEDULED: <2026-03-02 Mon>\n* TODO Trip\n"

// study returns the tools for Org files, with a home, notes that the person named, and a file
// elsewhere.
func study(t *testing.T, emacs tool.Emacs) (r *tool.Registry, home, notes, elsewhere string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, notes, elsewhere = filepath.Join(root, "home"), filepath.Join(root, "notes"), filepath.Join(root, "else.org")
	for path, text := range map[string]string{
		filepath.Join(home, "own.org"): "* Own\n", filepath.Join(notes, "plan.org"): plan, filepath.Join(notes, "deep", "b.org"): "* TODO Deep\nDEADLINE: <2026-03-04 Wed>\n",
		filepath.Join(notes, "kept", "key.org"): "* TODO Key\n", elsewhere: "* TODO Elsewhere\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found := tool.Files{Home: home, Unread: func(path string) bool { return strings.Contains(path, "/kept") }}
	r, err = tool.BuiltIn(tool.Deps{
		Skills: func() *skillmd.Set { return nil }, Files: found,
		Notes: tool.Notes{Files: found, Roots: func() []string { return []string{notes} }, Emacs: emacs, NewID: func() string { return "new-1" },
			Now: func() time.Time { return time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC) }},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, home, notes, elsewhere
}

// called makes a call as the agent does, and judges it once more before.
func called(t *testing.T, r *tool.Registry, name string, pairs ...any) (text string, reach []protocol.Reach, err error) {
	t.Helper()
	resolved, reach, err := r.Reach(t.Context(), name, plain(pairs...))
	if err == nil {
		resolved, reach, err = r.Reach(t.Context(), name, resolved)
	}
	if err != nil {
		return "", nil, err
	}
	text, _, err = r.Call(t.Context(), name, resolved)
	return text, reach, err
}

func TestOrgQuery(t *testing.T) {
	emacs := &desk{}
	r, home, notes, elsewhere := study(t, emacs)
	text, reach, err := called(t, r, "org_query", "todo", protocol.Keyword("open"), "body", true)
	if err != nil || reach == nil || len(reach) != 0 {
		t.Fatalf("%v %v", reach, err)
	}
	for _, part := range []string{"3 entries match in 2 files", "plan.org:2: TODO Roses  :home:\n    below Garden; id roses; scheduled <2026-03-02 Mon>\n    | Two cans.\n", "TODO Deep", "TODO Trip"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	if strings.Contains(text, "Secret") || strings.Contains(text, "Key") {
		t.Errorf("what is withheld is told:\n%s", text)
	}
	// Emacs's data counts, and its agenda files are judged.
	emacs.notes = protocol.EmacsNotes{Agenda: []string{elsewhere, filepath.Join(notes, "plan.org")}, Sequences: []string{"LATER | PAST"},
		Unsaved: []protocol.EmacsText{{File: elsewhere, Text: "* LATER Unsaved\n"}}}
	text, reach, err = called(t, r, "org_query", "todo", []any{"LATER"})
	if err != nil || len(reach) != 1 || reach[0] != (protocol.Reach{Kind: protocol.ReachReads, Path: elsewhere}) || !strings.Contains(text, "1 entry matches in 3 files, with what is not saved in Emacs:\n"+elsewhere+":1: LATER Unsaved\n") {
		t.Errorf("%v %v\n%s", reach, err, text)
	}
	// An Emacs that hangs does not prevent reading the files.
	emacs.err = protocol.ToolErrorf(protocol.ToolTimeout, "Emacs did not answer")
	text, _, err = called(t, r, "org_query", "files", []any{filepath.Join(home, "own.org")})
	if err != nil || !strings.Contains(text, "own.org:1: Own\n[Emacs did not answer; what follows is from the files") {
		t.Errorf("%v\n%s", err, text)
	}
	for _, c := range []struct {
		name, value, err string
	}{
		{"scheduled", "soon", `the argument :scheduled: "soon" is no day`},
		{"deadline", "2026-03-05..2026-03-01", "ends before it begins"},
		{"title", "(", "the argument :title: error parsing regexp"},
		{"properties", "a b", `"a b" is none of NAME, NAME=VALUE`},
		{"files", "none.org", "there is no file"},
		{"tag", "x", "there is no argument :tag; did you mean :tags?"},
	} {
		if _, _, err := called(t, r, "org_query", c.name, c.value); err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf(":%s %q: %v", c.name, c.value, err)
		}
	}
	others := r.For(&tool.Caller{Conversation: tool.Conversation{Name: "group"}})
	if _, _, err := others.Reach(t.Context(), "org_query", nil); err == nil || !strings.Contains(err.Error(), "others listen here") {
		t.Errorf("others hear of the notes: %v", err)
	}
}

func TestAgendaTool(t *testing.T) {
	emacs := &desk{err: tool.ErrNoEmacs}
	r, _, notes, _ := study(t, emacs)
	text, _, err := called(t, r, "agenda", "days", int64(3), "open", true)
	if err != nil || !strings.Contains(text, "Today is Monday 2026-03-02. 2026-03-02 to 2026-03-04, in 2 files:\nMonday 2026-03-02\n  deadline in 2 d.: TODO Deep") ||
		!strings.Contains(text, "  scheduled: TODO Roses  :home:  (") || !strings.Contains(text, "To be done, 3:\n") || strings.Contains(text, "Secret") {
		t.Errorf("%v\n%s", err, text)
	}
	// The items of the agenda files come from Emacs, the others from the kernel. What a model may
	// not see stays out.
	file := filepath.Join(notes, "plan.org")
	var froms []string
	emacs.err, emacs.notes.Agenda = nil, []string{file}
	emacs.agenda = func(p protocol.EmacsAgendaParams) (protocol.EmacsAgenda, error) {
		froms = append(froms, p.From)
		if p.From == "2026-03-02" {
			return protocol.EmacsAgenda{Next: "2026-03-03"}, nil
		}
		return protocol.EmacsAgenda{Items: []protocol.EmacsAgendaItem{
			{Day: "2026-03-03", Kind: "scheduled", Leader: "Scheduled:", Title: "Mine", Line: 7, Time: "09:00"},
			{Day: "2026-03-03", Kind: "scheduled", Title: "Hidden", Tags: []string{"noagent"}},
		}}, nil
	}
	text, _, err = called(t, r, "agenda", "from", "today", "days", int64(2))
	if err != nil || strings.Join(froms, " ") != "2026-03-02 2026-03-03" || !strings.Contains(text, "  09:00, Scheduled: Mine  ("+file+":7)\n") || strings.Contains(text, "Hidden") || strings.Contains(text, "Roses") || !strings.Contains(text, "Deep") {
		t.Errorf("%v %v\n%s", froms, err, text)
	}
	// An Emacs that announces more items and returns none is not asked for ever.
	emacs.agenda = func(p protocol.EmacsAgendaParams) (protocol.EmacsAgenda, error) {
		return protocol.EmacsAgenda{Next: p.From}, nil
	}
	text, _, err = called(t, r, "agenda")
	if err != nil || !strings.Contains(text, "Roses") || !strings.Contains(text, "it would go on with") {
		t.Errorf("%v\n%s", err, text)
	}
	if _, _, err := called(t, r, "agenda", "days", int64(63)); err == nil {
		t.Error("63 days are told")
	}
}

func TestOrgEdit(t *testing.T) {
	emacs := &desk{err: tool.ErrNoEmacs}
	r, _, notes, elsewhere := study(t, emacs)
	file := filepath.Join(notes, "plan.org")
	content := func() string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	text, reach, err := called(t, r, "org_edit", "id", "roses", "todo", "DONE", "seen", "Two cans")
	if err != nil || len(reach) != 1 || reach[0] != (protocol.Reach{Kind: protocol.ReachWrites, Path: file}) || !strings.Contains(text, "it becomes DONE") {
		t.Fatalf("%v %v\n%s", reach, err, text)
	}
	want := strings.Replace(plan, "TODO Roses", "DONE Roses", 1)
	if content() != want {
		t.Errorf("it became\n%s", content())
	}
	text, _, err = called(t, r, "org_edit", "file", file, "heading", []any{"Trip"}, "new", true, "title", "Pack", "deadline", "+1d")
	want += "** Pack\nDEADLINE: <2026-03-03 Tue>\n:PROPERTIES:\n:ID:       new-1\n:END:\n"
	if err != nil || content() != want || !strings.Contains(text, "its :ID: is new-1") {
		t.Errorf("%v %s\n%s", err, text, content())
	}
	// Exactly what was judged is performed, or nothing.
	resolved, _, err := r.Reach(t.Context(), "org_edit", plain("id", "roses", "body", "One can."))
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := r.Preview(t.Context(), "org_edit", resolved)
	if err != nil || p.Before != want || p.After != strings.Replace(want, "Two cans.", "One can.", 1) {
		t.Errorf("%v %+v", err, p)
	}
	for tool, summary := range map[string]string{"agenda": "Read the agenda of ", "org_query": "Search the headings of "} {
		if p, _, err := r.Preview(t.Context(), tool, plain("files", []any{file})); err != nil || !strings.HasPrefix(p.Summary, summary) || !strings.HasSuffix(p.Summary, filepath.Base(file)) ||
			!slices.Equal(p.Effects, []string{"it reads " + file, "it changes nothing"}) {
			t.Errorf("%s: %+v, %v", tool, p, err)
		}
		if p, _, err := r.Preview(t.Context(), tool, plain("files", []any{file, elsewhere})); err != nil || p.Summary != summary+"2 files" || len(p.Effects) != 3 {
			t.Errorf("%s: %+v, %v", tool, p, err)
		}
	}
	changed := strings.Replace(want, "Two cans.", "Three cans.", 1)
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err = r.Reach(t.Context(), "org_edit", resolved)
	if _, _, also := r.Call(t.Context(), "org_edit", resolved); err == nil || also == nil || !strings.Contains(err.Error(), "is not what it was when this was judged; it is now:\n** DONE Roses") ||
		protocol.ToolErrorOf(err).Code != protocol.ToolChanged || content() != changed {
		t.Errorf("%v %v\n%s", err, also, content())
	}
	if err := r.Stale(t.Context(), "org_edit", resolved); err == nil || strings.Contains(err.Error(), "Roses") || !strings.Contains(err.Error(), "is not what it was when this was proposed") {
		t.Errorf("the person who decides about it is told %v", err)
	}
	// Of a file that is read by asking only nothing is told before that.
	for _, change := range []string{"0123456789abcdef", ""} {
		if _, reach, err := r.Reach(t.Context(), "org_edit", plain("file", elsewhere, "heading", []any{"Elsewhere"}, "todo", "DONE", "change", change)); err != nil || len(reach) < 2 {
			t.Errorf("a change %q of what may not be read reaches %v, %v", change, reach, err)
		}
	}
	for _, c := range []struct {
		err   string
		pairs []any
	}{
		{"name the entry", []any{"todo", "DONE"}},
		{"no entry with the :ID: nobody is known", []any{"id", "nobody", "todo", "DONE"}},
		{"no entry of", []any{"file", file, "heading", "Secret", "todo", "DONE"}},
		{"does not have that text; it is now:", []any{"id", "roses", "seen", "Four", "todo", "TODO"}},
		{"nothing is to be done", []any{"id", "roses", "todo", "DONE"}},
		{"nothing is to be done", []any{"id", "roses"}},
		{"not both in one call", []any{"id", "roses", "under", "Trip", "todo", "TODO"}},
		{"are for a :new entry", []any{"id", "roses", "timestamp", "today"}},
		{"is no Org file", []any{"file", "/etc/hostname", "heading", "x"}},
	} {
		if _, _, err := called(t, r, "org_edit", c.pairs...); err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%v: %v, not %s", c.pairs, err, c.err)
		}
	}
	// Emacs changes a buffer that visits the file, and the inverse change is recorded.
	emacs.err, emacs.notes = nil, protocol.EmacsNotes{Entry: elsewhere, Unsaved: []protocol.EmacsText{{File: elsewhere, Text: "* TODO A\n:PROPERTIES:\n:ID: a\n:END:\n* TODO A\n"}}}
	resolved, _, err = r.Reach(t.Context(), "org_edit", plain("id", "a", "tags", []any{"x"}))
	if err != nil {
		t.Fatal(err)
	}
	if _, made, err := r.Call(t.Context(), "org_edit", resolved); err != nil || len(emacs.edited) != 2 || !strings.HasPrefix(emacs.edited[1], "* TODO A  ") || len(made) != 1 || made[0].File != elsewhere {
		t.Errorf("%v %q %+v", err, emacs.edited, made)
	}
}

// TestOrgEditKeepsReturns checks that lines that end in \r\n stay so.
func TestOrgEditKeepsReturns(t *testing.T) {
	r, _, notes, _ := study(t, nil)
	file := filepath.Join(notes, "dos.org")
	if err := os.WriteFile(file, []byte("* TODO A\r\nx\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := called(t, r, "org_edit", "file", file, "heading", "A", "todo", "DONE"); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(file); string(text) != "* DONE A\r\nx\r\n" {
		t.Errorf("it became %q", text)
	}
	if err := os.WriteFile(file, []byte("* TODO A\r\nx\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := called(t, r, "org_edit", "file", file, "heading", "A", "todo", "DONE"); err == nil {
		t.Error("mixed ends were changed")
	}
}

// TestEditWhereEmacsHasUnsavedText: a text that is not saved is changed in its buffer, and in no file. What was judged
// is what is changed, and where others listen no Emacs is asked.
func TestEditWhereEmacsHasUnsavedText(t *testing.T) {
	emacs := &desk{}
	r, home, _, _ := study(t, emacs)
	path := filepath.Join(home, "own.org")
	edit := func(pairs ...any) (string, error) {
		text, _, err := called(t, r, "edit", append([]any{"path", path}, pairs...)...)
		return text, err
	}
	if text, err := edit("old", "* Own", "new", "* Mine"); err != nil || len(emacs.edited) > 0 {
		t.Fatalf("%q, %v: Emacs changed %q", text, err, emacs.edited)
	}
	if err := os.Symlink("somebody@here.1", filepath.Join(home, ".#own.org")); err != nil {
		t.Fatal(err)
	}
	if _, err := edit("old", "* Mine", "new", "* Own"); err == nil || !strings.Contains(err.Error(), "ask the person to save it") {
		t.Errorf("without its text: %v", err)
	}
	emacs.notes.Unsaved = []protocol.EmacsText{{File: path, Text: "* Mine\nunsaved line\n"}}
	saved, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := edit("old", "unsaved line", "new", "changed line", "hash", files.Hash(saved))
	if err != nil || !strings.Contains(text, "in the buffer of Emacs") || !strings.Contains(text, "is not saved") || !slices.Equal(emacs.edited, []string{"unsaved line\n", "changed line\n"}) {
		t.Errorf("%q, %v: Emacs changed %q", text, err, emacs.edited)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != string(saved) {
		t.Errorf("the file has become %q, %v", now, err)
	}
	if _, err := edit("old", "unsaved line", "new", "x", "hash", "0000"); err == nil || !strings.Contains(err.Error(), "neither on the disk nor in Emacs") {
		t.Errorf("of another text: %v", err)
	}
	resolved, _, err := r.Reach(t.Context(), "edit", plain("path", path, "old", "unsaved line", "new", "x"))
	if err != nil {
		t.Fatal(err)
	}
	emacs.notes.Unsaved[0].Text += "more\n"
	if _, _, err := r.Call(t.Context(), "edit", resolved); err == nil || len(emacs.edited) > 2 {
		t.Errorf("it was changed after the judgement, and edited: %v, %q", err, emacs.edited)
	}
}
