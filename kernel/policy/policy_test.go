package policy_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chewxy/sexp"
	"pgregory.net/rapid"

	"org-agent/kernel/act"
	"org-agent/kernel/action"
	"org-agent/kernel/channel"
	"org-agent/kernel/kind"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// kinds are the built-in kinds, without anything that performs them.
var kinds = kind.New(append(act.Kinds(act.Deps{}), channel.Known()...)...)

func proposed(t testing.TB, text string) action.Proposed {
	t.Helper()
	p, err := action.Read(text)
	if err != nil {
		t.Fatalf("read %s: %v", text, err)
	}
	return p
}

func read(t testing.TB, text string) action.Action {
	t.Helper()
	return proposed(t, text).Action()
}

func TestUsable(t *testing.T) {
	cases := []struct{ action, wants string }{ // wants is a part of the message, or "" for a usable action
		{`(:type :request :target :emacs :action :insert-at-end :text "hi")`, ""},
		{`(:type :request :target :emacs :payload (:action :insert-at-end :buffer "*org-agent-chat*" :text "hi"))`, ""},
		{`(:type :response :text "hi")`, ""},
		{`(:type :response :payload (:text "hi"))`, ""},
		{`(:type :log :text "hi")`, ""},
		{`(:type :request :target :shell :cmd "ls")`, ""},
		{`(:type :request :target :telegram :chat-id 42 :text "hi")`, ""},
		{`(:type :request :target :tool :action :call :tool "grep" :args nil)`, ""},
		{`(:type :request :target :tool :action :call :tool "grep")`, ""},
		{`(:type :request :target :tool :action :batch :calls ((:tool "a") (:tool "b")))`, ""},
		{`(:type :request :target :emacs :action :edit :file "a.org" :old "" :new "x")`, ""},
		{`(:type :request :target :peer :act :silence)`, ""},
		{`(:type :request :target :emacs :action :eval :form "(x)")`, ""}, // usable, and refused by its kind
		{`(:type :request :target :emacs :action :set-properties :id "a" :properties (:effort "1:00"))`, ""},
		{`(:type :request :target :emacs :action :set-properties :id "a" :properties (("Effort" "1:00")))`, ""},
		{`(:type :request :target :emacs :action :set-properties :id "a" :properties (("Effort")))`, ":properties of :emacs :set-properties must be a plist"},
		{`(:type :request :target :emacs :action :set-properties :id "a" :properties ("Effort" "1:00"))`, "must be a plist"},

		{`nil`, "needs :type"},
		{`(:target :emacs)`, "needs :type"},
		{`(:type "request" :target :emacs)`, "needs :type, a keyword"},
		{`(:type :event :text "x")`, "for sensors"},
		{`(:type :foo)`, ":foo is not one of :request"},
		{`(:type :request)`, "needs :target"},
		{`(:type :request :target :emcas :action :x)`, ":emcas is not one of :emacs"},
		{`(:type :request :target :emacs)`, "needs :action, one of :insert-at-end"},
		{`(:type :request :target :emacs :action :insert :text "x")`, ":insert is not one that :emacs has"},
		{`(:type :request :target :emacs :action :insert-at-end)`, "needs :text"},
		{`(:type :request :target :emacs :action :insert-at-end :text nil)`, "needs :text"},
		{`(:type :request :target :emacs :action :insert-at-end :text 5)`, "must be a string"},
		{`(:type :request :target :emacs :action :insert-at-end :text " \n ")`, "not blank"},
		{`(:type :request :target :emacs :action :insert-at-end :text "x" :buffer 5)`, "must be a string"},
		{`(:type :response)`, "needs :text"},
		{`(:type :request :target :shell :cmd (:rm "x"))`, "must be a string"},
		{`(:type :request :target :matrix :chat-id "x" :text "hi")`, "needs :room-id"},
		{`(:type :request :target :emacs :action :edit :old "a" :new "b")`, "needs one of :file, :id"},
		{`(:type :request :target :tool :action :batch :calls (1 2))`, "list of plists"},
		{`(:type :request :target :tool :action :call :tool "x" :args (1 2 3))`, "in :args"},
		{`(:type :request :text "a" :payload (:text "b"))`, "well-formed"},
		{`(1 2 3)`, "well-formed"},
		{`(:type)`, "well-formed"},
	}
	p := policy.Policy{Kinds: kinds}
	for _, c := range cases {
		_, err := p.Usable(proposed(t, c.action))
		switch {
		case c.wants == "" && err != nil:
			t.Errorf("%s: %v", c.action, err)
		case c.wants != "" && err == nil:
			t.Errorf("%s: usable, want %q", c.action, c.wants)
		case c.wants != "" && !strings.Contains(err.Error(), c.wants):
			t.Errorf("%s: %v, want %q", c.action, err, c.wants)
		case err != nil && !errors.Is(err, action.ErrUnusable):
			t.Errorf("%s: %v is not ErrUnusable", c.action, err)
		}
	}
}

func TestJudge(t *testing.T) {
	home := t.TempDir()
	note := filepath.Join(home, "notes.org")
	if err := os.WriteFile(note, []byte("* Note\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(home, "link.org")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "config.org"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(home, "sessions"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "sessions", "main.org"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := policy.Policy{Kinds: kinds, Home: home}
	where := policy.Where{Session: "work", Turn: "t1", Route: protocol.LocalRoute(protocol.ChannelEmacs)}
	telegram := policy.Where{Session: "main", Turn: "t1", Route: protocol.Route{Kind: protocol.RouteChannel, Channel: "telegram", Chat: "42"}}
	cases := []struct {
		where  policy.Where
		action string
		want   policy.Kind
	}{
		{where, `(:type :response :text "hi")`, policy.Allow},
		{where, `(:type :log :text "hi")`, policy.Allow},
		{where, `(:type :request :target :emacs :action :insert-at-end :text "x")`, policy.Allow},
		{where, `(:type :request :target :emacs :action :insert-at-end :buffer "*org-agent-chat*" :text "x")`, policy.Allow},
		{where, `(:type :request :target :emacs :action :insert-at-end :buffer "*org-agent-chat: work*" :text "x")`, policy.Allow},
		{where, `(:type :request :target :emacs :action :insert-at-end :buffer "*org-agent-chat: home*" :text "x")`, policy.Ask},
		{where, `(:type :request :target :emacs :action :insert-at-end :buffer "init.el" :text "x")`, policy.Refuse},
		{where, `(:type :request :target :emacs :action :insert-at-end :buffer "*org-agent-chat: ../x*" :text "x")`, policy.Refuse},
		{where, `(:type :request :target :emacs :action :message :text "hi")`, policy.Allow},
		{where, `(:type :request :target :emacs :action :open :file "notes.org")`, policy.Allow},
		{where, `(:type :request :target :emacs :action :open :file "link.org")`, policy.Refuse},
		{where, `(:type :request :target :emacs :action :open :file "` + outside + `")`, policy.Refuse},
		{where, `(:type :request :target :emacs :action :open :file "/ssh:host:/etc/passwd")`, policy.Refuse},
		{where, `(:type :request :target :emacs :action :open :file "../../etc/passwd")`, policy.Refuse},
		{where, `(:type :request :target :emacs :action :open :file "~root/x")`, policy.Refuse},
		{where, `(:type :request :target :emacs :action :open :file "/dev/null")`, policy.Refuse},
		{where, `(:type :request :target :emacs :action :open :file "` + home + `")`, policy.Refuse},
		{where, `(:type :request :target :emacs :action :edit :file "notes.org" :old "a" :new "b")`, policy.Ask},
		{where, `(:type :request :target :emacs :action :edit :file "sessions/main.org" :old "a" :new "b")`, policy.Refuse},
		{where, `(:type :request :target :emacs :action :set-properties :id "x" :properties (:effort "1"))`, policy.Ask},
		{where, `(:type :request :target :emacs :action :set-properties :id "x" :properties (:header-args ":eval yes"))`, policy.Refuse},
		{where, `(:type :request :target :emacs :action :set-properties :id "x" :properties (:var+ "1"))`, policy.Refuse},
		{where, `(:type :request :target :emacs :action :set-properties :id "x" :properties (("Effort" "1")))`, policy.Ask},
		{where, `(:type :request :target :emacs :action :set-properties :id "x" :properties (("Effort" "1") (" id " "2")))`, policy.Refuse},
		{where, `(:type :request :target :emacs :action :set-properties :id "x" :properties (("Header-Args:python" "2")))`, policy.Refuse},
		{where, `(:type :request :target :emacs :action :eval :code "(delete-file x)")`, policy.Refuse},
		{where, `(:type :request :target :emacs :action :eval)`, policy.Refuse},
		{where, `(:type :request :target :shell :cmd "ls")`, policy.Ask},
		{where, `(:type :request :target :tool :action :call :tool "exec" :args (:cmd "x"))`, policy.Refuse},
		{where, `(:type :request :target :telegram :chat-id "42" :text "x")`, policy.Ask},
		{telegram, `(:type :request :target :telegram :chat-id "42" :text "x")`, policy.Allow},
		{telegram, `(:type :request :target :telegram :chat-id 42 :text "x")`, policy.Allow},
		{telegram, `(:type :request :target :telegram :chat-id "43" :text "x")`, policy.Ask},
		{telegram, `(:type :request :target :signal :chat-id "42" :text "x")`, policy.Ask},
		{where, `(:type :request :target :peer :act :say :text "x")`, policy.Refuse},
		{where, `(:type :request :target :agent :action :spawn :task "x")`, policy.Ask},
		{where, `(:type :event :text "x")`, policy.Refuse},
		{where, `(:type :bogus)`, policy.Refuse},
		{where, `(:type :request :target :shell :cmd "ls" :approved t)`, policy.Ask},
	}
	for _, c := range cases {
		v := p.Judge(t.Context(), read(t, c.action), c.where)
		if v.Kind != c.want {
			t.Errorf("%s: %v (%s), want %v", c.action, v.Kind, v.Reason, c.want)
		}
		if v.Reason == "" {
			t.Errorf("%s: no reason", c.action)
		}
	}
	v := p.Judge(t.Context(), read(t, `(:type :request :target :emacs :action :edit :file "config.org" :old "a" :new "b")`), where)
	if !v.Tells() {
		t.Errorf("of a file of the home nothing is told: %+v", v)
	}
	for new, once := range map[string]bool{"b": false, "# Local Variables:\n# eval: (f)": true, "# Variables: x": true} {
		v := p.Judge(t.Context(), read(t, `(:type :request :target :emacs :action :edit :file "notes.org" :old "a" :new "`+strings.ReplaceAll(new, "\n", `\n`)+`")`), where)
		if v.Kind != policy.Ask || v.OnceOnly != once {
			t.Errorf("an edit to %q: %+v, once only: want %v", new, v, once)
		}
	}
	diary := filepath.Join(t.TempDir(), "diary.txt")
	if err := os.WriteFile(diary, []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	if v := p.Judge(t.Context(), read(t, `(:type :request :target :emacs :action :edit :file "`+diary+`" :old "a" :new "b")`), where); v.Kind != policy.Ask || v.Tells() {
		t.Errorf("of a file that is not read without asking it is told why an edit fails: %+v", v)
	}
	if v.Kind != policy.Ask || !v.OnceOnly {
		t.Errorf("a protected file: %+v, want an approval for once only", v)
	}
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.State = filepath.Dir(token)
	v = p.Judge(t.Context(), read(t, `(:type :request :target :emacs :action :edit :file "`+token+`" :old "a" :new "b")`), where)
	if v.Kind != policy.Refuse {
		t.Errorf("a file of the state directory: %+v, which is not read, so it is not edited", v)
	}
	v = p.Judge(t.Context(), read(t, `(:type :request :target :emacs :action :open :file "./notes.org")`), where)
	if real, _ := filepath.EvalSymlinks(note); !strings.Contains(v.Action.Canonical(), real) {
		t.Errorf("the judged action names %s, not the resolved path", v.Action.Canonical())
	}
}

// approvals maps the hashes of approved actions to decisions.
type approvals map[string]protocol.Decision

func (a approvals) Allowed(_ context.Context, hash, _, _ string) (protocol.Decision, bool, error) {
	d, ok := a[hash]
	return d, ok, nil
}

func TestApprovalsAreForTheExactAction(t *testing.T) {
	where := policy.Where{Session: "main", Turn: "t"}
	list := read(t, `(:type :request :target :shell :cmd "ls")`)
	nested := read(t, `(:payload (:cmd "ls") :target :shell :type :request)`)
	other := read(t, `(:type :request :target :shell :cmd "ls -l")`)
	p := policy.Policy{Kinds: kinds}
	verdict := p.Judge(t.Context(), list, where)
	p.Approvals = approvals{verdict.Action.Hash(): protocol.AllowSession}
	if v, verdict, err := p.Verify(t.Context(), list, where); err != nil || !v.Valid() || verdict.Kind != policy.Allow {
		t.Errorf("an approved action: %v %+v %v", v.Valid(), verdict, err)
	}
	if v, _, _ := p.Verify(t.Context(), other, where); v.Valid() {
		t.Error("another command counted as approved")
	}
	if h := p.Judge(t.Context(), nested, where).Action.Hash(); h != verdict.Action.Hash() {
		t.Error("the same action in nested form has another hash")
	}
	p.Approvals = nil
	where.Granted = verdict.Action.Hash()
	if v, _, _ := p.Verify(t.Context(), list, where); !v.Valid() {
		t.Error("an action allowed once was not let through")
	}
	if v, _, _ := p.Verify(t.Context(), other, where); v.Valid() {
		t.Error("a grant for one action let another through")
	}
}

// TestOnlyAllowedIsVerified checks that only an allowed action becomes Valid, and that without
// rules only conversation, log and harmless Emacs actions are allowed.
func TestOnlyAllowedIsVerified(t *testing.T) {
	words := []string{"type", "target", "action", "payload", "text", "buffer", "cmd", "chat-id", "approved", "verified", "origin",
		"request", "response", "log", "event", "emacs", "shell", "telegram", "tool", "call", "insert-at-end", "message", "eval", "code"}
	atom := rapid.OneOf(
		rapid.Map(rapid.SampledFrom(words), func(w string) sexp.Sexp { return plist.Keyword(w) }),
		rapid.Map(rapid.SampledFrom([]string{"", "x", "*org-agent-chat*", "*org-agent-chat: other*", "init.el", "42"}), func(s string) sexp.Sexp { return plist.String(s) }),
		rapid.Map(rapid.IntRange(-1, 3), func(n int) sexp.Sexp { return plist.Int(n) }),
	)
	list := func(of *rapid.Generator[sexp.Sexp]) *rapid.Generator[sexp.Sexp] {
		return rapid.Map(rapid.SliceOfN(of, 0, 8), func(items []sexp.Sexp) sexp.Sexp { return sexp.List(items) })
	}
	proposal := list(rapid.OneOf(atom, atom, atom, list(atom)))
	harmless := map[string]bool{"response": true, "log": true}
	rapid.Check(t, func(t *rapid.T) {
		list := proposal.Draw(t, "action").(sexp.List)
		p := policy.Policy{Kinds: kinds}
		v, verdict, err := p.Verify(context.Background(), action.Propose(list).Action(), policy.Where{Session: "main"})
		if err != nil {
			t.Fatal(err)
		}
		if v.Valid() != (verdict.Kind == policy.Allow) {
			t.Fatalf("%s: valid %v, verdict %v", plist.Print(list), v.Valid(), verdict.Kind)
		}
		if !v.Valid() {
			return
		}
		if key := v.Action().Key(); key.Target != "emacs" && !harmless[key.Target] {
			t.Fatalf("%s was allowed", plist.Print(list))
		}
		if strings.Contains(v.Action().Canonical(), ":approved") {
			t.Fatalf("a forbidden field came through: %s", v.Action().Canonical())
		}
	})
}

func TestZeroVerifiedIsInvalid(t *testing.T) {
	var v policy.Verified
	if v.Valid() || !v.Action().IsZero() {
		t.Error("the zero value does something")
	}
}

// TestLongCommandsAreNotAskedAbout checks that a person is not asked about a command that they would not see
// whole, and that one which the rules allow may be as long as it likes.
func TestLongCommandsAreNotAskedAbout(t *testing.T) {
	home := t.TempDir()
	p := &policy.Policy{Home: home, Kinds: kinds}
	judge := func(command string) policy.Verdict {
		return p.JudgeReach(protocol.Reach{Kind: protocol.ReachRuns, Command: command, Path: home})
	}
	for command, want := range map[string]policy.Kind{
		"rm x": policy.Ask, strings.Repeat("true\n", 98) + "rm x": policy.Ask, strings.Repeat("true\n", 300) + "rm x": policy.Refuse,
		"rm x" + strings.Repeat(" ", 9000): policy.Refuse, strings.Repeat("true\n", 300): policy.Allow,
	} {
		if v := judge(command); v.Kind != want {
			t.Errorf("%.20q with %d bytes: %v, %s", command, len(command), v.Kind, v.Reason)
		}
	}
}
