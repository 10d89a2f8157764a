package daemon_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// TestFileIsReadAndEdited: what a model read it changes as the person was shown, and nobody
// else's bytes.
func TestFileIsReadAndEdited(t *testing.T) {
	const before = "* Roses\r\n  red \r\n* Tulips\nno end"
	in, model := newInstanceAndModel(t,
		llmtest.Exchange{Match: "^tidy", Reply: calling("read", `:path "garden/notes.org"`).Reply},
		llmtest.Exchange{Match: "\t  red ", Reply: calling("edit", `:path "garden/notes.org" :old "red" :new "white"`).Reply},
		llmtest.Exchange{Match: `Replaced 1 place`, Reply: calling("write", `:path "garden/new/list.org" :content ""`).Reply},
		llmtest.Exchange{Reply: insertion("* Done"), Times: -1})
	in.write(t, "garden/notes.org", before)
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	sent, err := e.Send(within(t), "q1", "tidy up")
	if err != nil {
		t.Fatal(err)
	}
	allow := func(summary string) (asked protocol.Ask) {
		t.Helper()
		see(t, e, summary, func() bool {
			for _, asked = range e.Approvals() {
				if asked.Summary == summary {
					return true
				}
			}
			return false
		})
		if err := decide(t, e, protocol.AskDecideParams{ID: asked.ID, Decision: protocol.AllowOnce}); err != nil {
			t.Fatal(err)
		}
		return asked
	}
	asked := allow("Edit garden/notes.org")
	if asked.Language != "diff" || !strings.Contains(asked.Text, "-  red ") || !strings.Contains(asked.Text, "+  white ") || asked.Once {
		t.Errorf("the person was shown %+v", asked)
	}
	asked = allow("Write the new file garden/new/list.org")
	if !strings.Contains(strings.Join(asked.Effects, "\n"), "it makes the directory ") {
		t.Errorf("the person was shown %+v", asked)
	}
	if finished, err := e.WaitTurn(within(t), sent.Turn); err != nil || finished.State != protocol.TurnAnswered {
		t.Fatalf("the turn ended %+v, %v", finished, err)
	}
	if got := in.read(t, "garden/notes.org"); got != strings.Replace(before, "red", "white", 1) {
		t.Errorf("the file is %q", got)
	}
	if got := in.read(t, "garden/new/list.org"); got != "" {
		t.Errorf("the new file is %q", got)
	}
	var told protocol.TurnChangesResult
	if err := e.Call(within(t), protocol.MethodTurnChanges, protocol.TurnChangesParams{ID: "q1"}, &told); err != nil {
		t.Fatal(err)
	}
	edited, made := filepath.Join(in.paths.Home, "garden/notes.org"), filepath.Join(in.paths.Home, "garden/new/list.org")
	if len(told.Changes) != 2 || len(told.Stays) != 0 {
		t.Fatalf("to be taken back: %+v", told)
	}
	if c := told.Changes[0]; c.File != edited || c.Old != "red" || c.New != "white" || c.Before != "* Roses\r\n  " || c.After != " \r\n* Tulips\nno end" || c.Created || c.Unsure {
		t.Errorf("the edit is taken back by %+v", c)
	}
	if c := told.Changes[1]; c.File != made || !c.Created || c.Old != "" || c.New != "" {
		t.Errorf("the new file is taken back by %+v", c)
	}
	if got := e.ChangedFiles(); !slices.Equal(got, []string{edited, made}) {
		t.Errorf("editors were told of %q", got)
	}
	_, lasts := systems(model)
	if len(lasts) != 4 || !strings.Contains(lasts[1], ", hash ") || !strings.Contains(lasts[3], "Wrote garden/new/list.org: 0 bytes") {
		t.Errorf("the model was told %q", lasts)
	}
}

// TestFilesThatAreFenced: whatever a model asks for, nothing of the kernel's own comes to it, what
// was said is not changed, and what is wrong has a code.
func TestFilesThatAreFenced(t *testing.T) {
	tests := []struct{ tool, arguments, want string }{
		{"read", `:path "gardn.org"`, `did you mean "garden.org"?`},
		{"read", `:file "garden.org"`, `: refused, arguments ---`},
		{"read", `:path "/dev/zero"`, `: refused, unfit ---`},
		{"read", `:path "link"`, `is the kernel's own`},
		{"read", `:path ".ssh/id_rsa"`, `keys and passwords`},
		{"read", `:path ".ssh/id_none"`, `keys and passwords`},
		{"edit", `:path ".ssh/id_none" :old "a" :new "b"`, `keys and passwords`},
		{"grep", `:pattern "roses"`, `garden.org:2:roses`},
		{"glob", `:pattern "*"`, "garden.org\n"},
		{"edit", `:path "garden.org" :old "tulips" :new "x"`, `:old is not in`},
		{"edit", `:path "garden.org" :old "oses" :new "x"`, `: refused, not-unique ---`},
		{"write", `:path "garden.org" :content "x"`, `: refused, exists ---`},
		{"write", `:path "sessions/x.org" :content "x"`, `nobody changes what was said`},
		{"write", `:path ".ssh/config" :content "x"`, `keys and passwords`},
		{"write", `:path "garden.org"`, `the argument :content is missing`},
	}
	var script []llmtest.Exchange
	for i, test := range tests {
		script = append(script, llmtest.Exchange{Match: fmt.Sprintf("^look %d$", i), Reply: calling(test.tool, test.arguments).Reply})
	}
	in, model := newInstanceAndModel(t, append(script, llmtest.Exchange{Reply: insertion("* Well"), Times: -1})...)
	in.write(t, "garden.org", "* Roses\nroses\n")
	in.write(t, ".ssh/id_rsa", "roses of the key")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	if err := os.Symlink(in.paths.State, filepath.Join(in.paths.Home, "link")); err != nil {
		t.Fatal(err)
	}
	for i, test := range tests {
		got := ask(t, e, fmt.Sprint("q", i), fmt.Sprint("look ", i))
		_, lasts := systems(model)
		if last := lasts[len(lasts)-1]; got.state != "answered" || !strings.Contains(last, test.want) || strings.Contains(last, "of the key") {
			t.Errorf("%s %s: %+v, %s", test.tool, test.arguments, got, last)
		}
	}
}

// TestProjectIsRead: of the project that something was sent along from the files are read without
// a question, also in later turns, and its keys are not; another conversation has to ask.
func TestProjectIsRead(t *testing.T) {
	project := filepath.Join(t.TempDir(), "project")
	for name, text := range map[string]string{".git/HEAD": "ref", "a.go": "package roses", ".env": "KEY=roses"} {
		path := filepath.Join(project, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	grep := calling("grep", fmt.Sprintf(`:pattern "roses" :path %q`, project)).Reply
	in, model := newInstanceAndModel(t,
		llmtest.Exchange{Match: "look$", Reply: grep}, llmtest.Exchange{Match: "again$", Reply: grep}, llmtest.Exchange{Match: "elsewhere$", Reply: grep},
		llmtest.Exchange{Match: "there$", Reply: grep}, llmtest.Exchange{Match: "above$", Reply: grep}, llmtest.Exchange{Match: "home$", Reply: grep},
		llmtest.Exchange{Reply: insertion("* Well"), Times: -1})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	item := protocol.Object{{Key: "kind", Value: "file"}, {Key: "name", Value: "a.go"}, {Key: "place", Value: filepath.Join(project, "a.go") + ", not saved"}, {Key: "text", Value: "x"}}
	for _, params := range []protocol.Object{message("q1", "look", item), message("q2", "again")} {
		finished := sendWith(t, e, params)
		_, lasts := systems(model)
		if last := lasts[len(lasts)-1]; finished.State != protocol.TurnAnswered || !strings.Contains(last, "1 line in the 1 file that were searched") || strings.Contains(last, "KEY") {
			t.Errorf("%+v: %s", finished, last)
		}
	}
	// What a client says of a directory opens the project that this is in, and never more.
	from := func(id, text, directory string) protocol.Object {
		return append(message(id, text), protocol.Field{Key: "session", Value: id}, protocol.Field{Key: protocol.PayloadDirectory, Value: directory})
	}
	var sent protocol.EventResult
	if err := e.Call(within(t), protocol.MethodEvent, from("q4", "there", filepath.Join(project, "deep", "er")), &sent); err != nil {
		t.Fatal(err)
	}
	until(t, "the model to be told what was found", func() bool {
		_, lasts := systems(model)
		return len(lasts) == 6 && strings.Contains(lasts[5], "1 line in the 1 file that were searched")
	})
	for n, params := range []protocol.Object{
		append(message("q3", "elsewhere"), protocol.Field{Key: "session", Value: "q3"}),
		from("q5", "above", filepath.Dir(project)), from("q6", "home", "/"),
	} {
		if err := e.Call(within(t), protocol.MethodEvent, params, &sent); err != nil {
			t.Fatal(err)
		}
		until(t, "the person to be asked", func() bool {
			var list protocol.AskListResult
			return e.Call(within(t), protocol.MethodAskList, protocol.Empty{}, &list) == nil && len(list.Asks) == n+1
		})
	}
}
