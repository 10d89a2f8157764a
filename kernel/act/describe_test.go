package act_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/describe"
)

const note = "one\ntwo words\nthree\nfour\nfive\nsix\nseven\n"

func readNote(path string) (string, error) {
	if path == "/home/me/note.org" {
		return note, nil
	}
	return "", errors.New("no such file")
}

// TestDescribe checks what a person is shown of each kind: the summary, the whole text, and the
// effects.
func TestDescribe(t *testing.T) {
	tests := []struct {
		name, payload string
		summary, text string
		effects       []string // each is a part of one effect
	}{
		{"an edit within a line", `:target :emacs :payload (:action :edit :file "/home/me/note.org" :old "words" :new "deeds")`,
			"Change ~/note.org", "--- ~/note.org\n+++ ~/note.org\n@@ -1,5 +1,5 @@\n one\n-two words\n+two deeds\n three\n four\n five\n", []string{"changes ~/note.org", "nothing over the network"}},
		{"an edit of what is not there", `:target :emacs :payload (:action :edit :file "/home/me/note.org" :old "nine\n" :new "ten\n")`,
			"Change ~/note.org", "--- ~/note.org\n+++ ~/note.org\n@@ -1 +1 @@\n-nine\n+ten\n", []string{"is not in the file"}},
		{"an edit of what is there often", `:target :emacs :payload (:action :edit :file "/home/me/note.org" :old "e\n" :new "E\n")`,
			"Change ~/note.org", "@@ -1 +1 @@\n-e\n+E\n", []string{"in the file 3 times"}},
		{"an edit of an entry", `:target :emacs :id "x1" :payload (:action :edit :old "a" :new "b")`,
			"Change the entry x1", "--- the entry x1\n+++ the entry x1\n@@ -1 +1 @@\n-a\n+b\n", nil},
		{"properties", `:target :emacs :payload (:action :set-properties :id "x1" :properties (:effort "1:00" :note 5))`,
			"Set EFFORT, NOTE of the entry x1", "+:EFFORT: 1:00\n+:NOTE: 5\n", []string{"2 properties of the entry"}},
		{"properties in pairs", `:target :emacs :payload (:action :set-properties :id "x1" :properties (("Effort" "1:00")))`,
			"Set EFFORT of the entry x1", "+:EFFORT: 1:00\n", []string{"1 property"}},
		{"a command", `:target :shell :payload (:cmd "ls -l\nrm x" :cwd "/tmp")`,
			"Run ls -l", "ls -l\nrm x", []string{"as you, in /tmp", "cannot be foretold"}},
		{"a hidden command", ":target :shell :payload (:cmd \"ls \u202ex\")",
			"Run ls ⟨U+202E⟩x", "ls ⟨U+202E⟩x", []string{"1 character that cannot be seen"}},
		{"a message", `:target :signal :payload (:chat-id "+49" :text "hi")`,
			"Send a message to +49 on signal", "hi", []string{"2 characters are sent to +49", "cannot be taken back"}},
		{"text elsewhere", `:target :emacs :payload (:action :insert-at-end :buffer "*org-agent-chat: other*" :text "psst")`,
			"Write into *org-agent-chat: other*", "psst", []string{"4 characters"}},
		{"a tool", `:target :tool :payload (:action :call :tool "exec" :args (:cmd "ls" :cwd "/"))`,
			"Call the tool exec", "(:cmd \"ls\"\n :cwd \"/\")", []string{"more than read"}},
		{"a tool that only reads", `:target :tool :payload (:action :call :tool "look" :args (:path "/x"))`,
			"Call the tool look", "(:path \"/x\")", []string{"it reads /x"}},
		{"a tool that says what it does", `:target :tool :payload (:action :call :tool "seek" :args (:path "/x"))`,
			"Look for *.go in /x", "(:path \"/x\")", []string{"it reads /x"}},
		{"two subagents", `:target :tool :payload (:action :batch :calls ((:tool "start_subagent" :args (:task "look")) (:tool "start_subagent" :args (:task "find"))))`,
			"Call the tool start_subagent, 2 times", "1. Call the tool start_subagent\n(:task \"look\")\n\n2. Call the tool start_subagent\n(:task \"find\")\n", []string{"does more than read"}},
		{"a subagent", `:target :agent :payload (:action :spawn :task "look")`, "Start a subagent", "look", []string{"tokens"}},
		{"a long command", `:target :shell :payload (:cmd "` + strings.Repeat("x", 100) + `")`,
			"Run " + strings.Repeat("x", 67) + "…", strings.Repeat("x", 100), nil},
	}
	for _, test := range tests {
		proposed, err := action.Read("(:type :request " + test.payload + ")")
		if err != nil {
			t.Fatal(err)
		}
		p := builtIn().Describe(proposed.Action(), describe.Deps{User: "/home/me", Read: readNote, Change: touching, Once: true})
		if p.Summary != test.summary || !strings.HasSuffix(p.Text, test.text) {
			t.Errorf("%s: %q\n%s", test.name, p.Summary, p.Text)
		}
		for _, effect := range append(test.effects, "only be allowed once") {
			if !strings.Contains(strings.Join(p.Effects, "\n"), effect) {
				t.Errorf("%s: %q is not in %q", test.name, effect, p.Effects)
			}
		}
	}
}

// touching returns what is known of two tools, and knows no other tool.
func touching(tool string, _ sexp.Sexp) describe.Change {
	switch tool {
	case "look":
		return describe.Change{Effects: []string{"it reads /x"}}
	case "seek":
		return describe.Change{Summary: "Look for *.go in /x", Effects: []string{"it reads /x"}}
	}
	return describe.Change{}
}
