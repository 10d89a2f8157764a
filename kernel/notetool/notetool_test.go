package notetool_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/act"
	"org-agent/kernel/action"
	"org-agent/kernel/kind"
	"org-agent/kernel/notetool"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
	"org-agent/kernel/tool"
)

const counts = `#+TITLE: Counting
CAPABILITIES
#+begin_src lisp
(def-cognitive-tool :count-words "Counts words."
  ((:text :type :string :description "What to count" :required t)
   (:least :type :integer :default 1)
   (:how :type :keyword :enum (:all :long))
   (:each :type :list) (:options :type :plist) (:exact :type :boolean) (:share :type :number) (:other))
  :guard (lambda (args)
           (let ((text (getf args :text)))
             (cond ((search "secret" text) nil) ((search "odd" text) '(:ask "it is odd")) (t t))))
  :body (lambda (args) (format nil "~(~s~)" args)))
#+end_src
`

// world is a home with notes, and the tools and the policy of its kernel.
type world struct {
	t      *testing.T
	home   string
	notes  *skill.Registry
	tools  *tool.Registry
	kinds  *kind.Set
	policy *policy.Policy
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, home: t.TempDir()}
	rules := &policy.RuleFile{Path: filepath.Join(w.home, "policy.org")}
	grants := skill.NewGrants(skill.GrantsConfig{File: rules.Path, Home: w.home, User: w.home})
	w.notes = skill.New(skill.Config{Home: filepath.Join(w.home, "skills"), Logger: slog.New(slog.DiscardHandler), Grants: grants})
	own, err := tool.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	w.tools = own.WithForeign(notetool.Live(w.notes.Current, func() []tool.Tool {
		return []tool.Tool{tool.NewForeign(tool.Foreign{Name: "count_words", Digest: "mcp"}), tool.NewForeign(tool.Foreign{Name: "server_other", Digest: "mcp"})}
	})).For(&tool.Caller{Conversation: tool.Conversation{Session: "main"}})
	w.kinds = kind.New(act.Kinds(act.Deps{Catalog: w.tools})...)
	w.policy = &policy.Policy{Home: w.home, Tools: w.tools, Kinds: w.kinds, Rules: rules}
	return w
}

// write saves the note with a line of capabilities, which are granted.
func (w *world) write(capabilities, source string) {
	w.t.Helper()
	path := filepath.Join(w.home, "skills", "counting.org")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(source, "CAPABILITIES", capabilities, 1)), 0o600); err != nil {
		w.t.Fatal(err)
	}
	if statuses := w.notes.Load(w.t.Context()); len(statuses) != 1 || statuses[0].State != skill.Live {
		w.t.Fatalf("%+v", statuses)
	}
}

func (w *world) action(arguments string) action.Action {
	w.t.Helper()
	proposed, err := action.Read(`(:type :request :target :tool :action :call :tool "count_words" :args ` + arguments + `)`)
	if err != nil {
		w.t.Fatal(err)
	}
	return proposed.Action()
}

func (w *world) judge(arguments string) policy.Verdict {
	return w.policy.Judge(w.t.Context(), w.action(arguments), policy.Where{Session: "main"})
}

// TestOffered checks what a model is told of a note's tool, and that it takes the place of another
// program's tool of the same name.
func TestOffered(t *testing.T) {
	w := newWorld(t)
	w.write("", counts)
	var found []tool.Tool
	for _, one := range w.tools.Offered() {
		if one.Foreign() {
			found = append(found, one)
		}
	}
	if len(found) != 2 || found[0].Name() != "count-words" || found[1].Name() != "server_other" {
		t.Fatalf("offered are %v", found)
	}
	if want := `count-words (:text S [:least N :how :all|:long :each (…) :options (:key …) :exact t :share X :other …]): Counts words.`; found[0].Line() != want {
		t.Errorf("its line is %s", found[0].Line())
	}
	properties, _ := found[0].Schema().Get("properties").(protocol.Object)
	text, _ := properties.Get("text").(protocol.Object)
	how, _ := properties.Get("how").(protocol.Object)
	if text.Text("type") != "string" || text.Text("description") != "What to count" || len(how.Get("enum").([]any)) != 2 || len(properties) != 8 {
		t.Errorf("its schema is %v", found[0].Schema())
	}
}

// TestJudged checks that a call is allowed if the note was granted nothing, and that a person is asked
// if it was granted something, that its guard only narrows, and that rows hold.
func TestJudged(t *testing.T) {
	w := newWorld(t)
	w.write("", counts)
	for arguments, want := range map[string]string{
		`(:text "a b")`:           "allow: it only computes",
		`(:text "a secret")`:      "refuse: its guard refuses it",
		`(:text "an odd one")`:    "ask: it is odd",
		`(:txt "a b")`:            "refuse: did you mean :text?",
		`(:least 2)`:              "refuse: the argument :text is missing: What to count",
		`(:text "a" :least "b")`:  "refuse: the argument :least is an integer",
		`(:text "a" :how "some")`: "refuse: the argument :how is one of :all :long",
		`(:text "a" :TEXT "b")`:   "refuse: ",
	} {
		kind, reason, _ := strings.Cut(want, ": ")
		if v := w.judge(arguments); v.Kind.String() != kind || !strings.Contains(v.Reason, reason) {
			t.Errorf("%s: %s, %s, want %s", arguments, v.Kind, v.Reason, want)
		}
	}
	w.write("#+CAPABILITIES: read:.", counts)
	if v := w.judge(`(:text "a b")`); v.Kind != policy.Allow {
		t.Errorf("without the grant: %+v", v)
	}
	shown, err := w.notes.Requests(filepath.Join(w.home, "skills", "counting.org"))
	if err == nil {
		shown, err = w.notes.Grant(t.Context(), filepath.Join(w.home, "skills", "counting.org"), shown.Blocks, shown.Names())
	}
	if err != nil || !shown.Granted {
		t.Fatalf("%+v, %v", shown, err)
	}
	w.notes.Load(t.Context())
	if v := w.judge(`(:text "a b")`); v.Kind != policy.Ask || !strings.Contains(v.Reason, "counting.org, which was granted read:") {
		t.Errorf("with the grant: %+v", v)
	}
	granted, err := os.ReadFile(filepath.Join(w.home, "policy.org"))
	if err != nil {
		t.Fatal(err)
	}
	for verdict, want := range map[string]policy.Kind{"allow": policy.Allow, "refuse": policy.Refuse} {
		rules := string(granted) + "\n* Rules\n| rule | matches | verdict | why | since |\n| tool count_words | | " + verdict + " | mine | |\n"
		if err := os.WriteFile(filepath.Join(w.home, "policy.org"), []byte(rules), 0o600); err != nil {
			t.Fatal(err)
		}
		if v := w.judge(`(:text "a b")`); v.Kind != want || !strings.Contains(v.Reason, "mine") {
			t.Errorf("with a row that says %s: %+v", verdict, v)
		}
		if v := w.judge(`(:text "an odd one")`); want == policy.Allow && (v.Kind != policy.Ask || !v.OnceOnly) {
			t.Errorf("the guard against the row: %+v", v)
		}
	}
}

// TestPerformed checks that the body gets what was judged, under the names and with the defaults of
// the note, and that a call of changed code is not made.
func TestPerformed(t *testing.T) {
	w := newWorld(t)
	w.write("", counts)
	for arguments, want := range map[string]string{
		`(:text "a b")`: `(:text "a b" :least 1)`,
		`(:other (1 "x") :Text "a" :how "long" :each "b" :options (:k 1) :exact t :share 0.5 :least nil)`: `(:text "a" :least 1 :how :long :each ("b") :options (:k 1) :exact t :share 0.5 :other (1 "x"))`,
	} {
		verified, v, err := w.policy.Verify(t.Context(), w.action(arguments), policy.Where{Session: "main"})
		if err != nil || !verified.Valid() {
			t.Fatalf("%s: %+v, %v", arguments, v, err)
		}
		result, err := w.kinds.Perform(t.Context(), kind.Order{ID: "a", Session: "main", Action: verified, Tools: w.tools})
		if err != nil || result.Text != want {
			t.Errorf("%s: %q, %v, want %q", arguments, result.Text, err, want)
		}
		w.write("", strings.Replace(counts, "~(~s~)", "x~(~s~)", 1))
		if _, err := w.kinds.Perform(t.Context(), kind.Order{ID: "b", Session: "main", Action: verified, Tools: w.tools}); err == nil || !strings.Contains(err.Error(), "changed while this was decided") {
			t.Errorf("after a change of the note: %v", err)
		}
		w.write("", counts)
	}
}
