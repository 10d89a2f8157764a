package policy_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// workshop has tools that report what a call touches. The arguments are a list of pairs of a kind
// and a name, and names are resolved against root.
type workshop struct{ root string }

func (w workshop) Find(name string) (string, protocol.ToolEffect, bool) {
	return name, map[string]protocol.ToolEffect{"read": protocol.ToolReads}[name], name == "read" || name == "write"
}

func (workshop) Digest(string) string { return "" }

func (workshop) Trust(string) (string, string) { return "", "" }

func (workshop) Guard(context.Context, string, protocol.Object) (string, error) { return "", nil }

func (w workshop) Nearest(string) string { return "" }

func (w workshop) Reach(_ context.Context, _ string, arguments protocol.Object) (protocol.Object, []protocol.Reach, error) {
	reach := []protocol.Reach{}
	var resolved protocol.Object
	for _, f := range arguments {
		name, _ := f.Value.(string)
		r := protocol.Reach{Kind: protocol.ReachKind(f.Key)}
		switch r.Kind {
		case "refused":
			return nil, nil, errors.New("give it another name")
		case protocol.ReachReads, protocol.ReachWrites:
			if !filepath.IsAbs(name) {
				name = filepath.Join(w.root, name)
			}
			r.Path = name
		case protocol.ReachRuns:
			r.Command = name
		default:
			r.URL = name
		}
		reach = append(reach, r)
		resolved = append(resolved, protocol.Field{Key: f.Key, Value: name})
	}
	return resolved, reach, nil
}

// TestReachRule checks that a call is judged by the worst of what it would touch, on the resolved
// arguments, and that the kernel's own files and conversations are always refused.
func TestReachRule(t *testing.T) {
	root := t.TempDir()
	home, state := filepath.Join(root, "home"), filepath.Join(root, "state", "org-agent")
	for _, directory := range []string{filepath.Join(home, "sessions"), state} {
		if err := os.MkdirAll(directory, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p := policy.Policy{Kinds: kinds, Home: home, State: state, Tools: workshop{root}}
	for _, c := range []struct {
		tool, arguments string
		kind            policy.Kind
		reason          string
		once            bool
	}{
		{"read", `nil`, policy.Allow, "touches nothing", false},
		{"write", `nil`, policy.Allow, "touches nothing", false},
		{"read", `(:reads "home/a")`, policy.Allow, "in the home", false},
		{"write", `(:reads "home")`, policy.Allow, "in the home", false},
		{"read", `(:reads "homely")`, policy.Ask, "outside the home", false},
		{"read", `(:reads "home/a" :fetches "http://x/")`, policy.Ask, "fetches http://x/", false},
		{"read", `(:reads "state/org-agent/token")`, policy.Refuse, "the kernel's own", false},
		{"read", `(:reads "state")`, policy.Refuse, "name a directory", false},
		{"read", `(:reads "")`, policy.Refuse, "name a directory", false},
		{"write", `(:writes "home/a")`, policy.Ask, "it changes", false},
		{"write", `(:runs "ls" :writes "home/config.org")`, policy.Ask, "it runs ls, which no rule allows; it changes", true},
		{"write", `(:writes "state/org-agent/token")`, policy.Ask, "kernel's own", true},
		{"write", `(:writes "")`, policy.Ask, "decides what the agent is", true}, // the empty path is the whole disk, as for a command without a fence
		{"write", `(:writes "home")`, policy.Ask, "decides what the agent is", true},
		{"write", `(:writes "home/sessions/main.org")`, policy.Refuse, "nobody changes what was said", false},
		{"write", `(:runs "ls" :writes "home/sessions/main.org")`, policy.Refuse, "nobody changes", false},
		{"write", `(:runs "make")`, policy.Ask, "it runs make, which no rule allows", false},
		{"read", `(:burns "home/a")`, policy.Refuse, "nothing is known", false},
		{"read", `(:refused "x")`, policy.Refuse, "give it another name", false},
	} {
		action := `(:type :request :target :tool :action :call :tool "` + c.tool + `" :args ` + c.arguments + `)`
		got := p.Judge(t.Context(), read(t, action), policy.Where{})
		if got.Kind != c.kind || !strings.Contains(got.Reason, c.reason) || got.OnceOnly != c.once {
			t.Errorf("%s: %s, %q, once only: %v", action, got.Kind, got.Reason, got.OnceOnly)
		}
		if strings.HasPrefix(c.arguments, `(:reads "home`) && !strings.Contains(got.Action.Canonical(), `"`+home) {
			t.Errorf("%s: what is judged is not resolved: %s", action, got.Action.Canonical())
		}
	}
}

// TestUnread checks that a search always skips the kernel's own files, conversations and keys,
// whatever a rule allows, and that a project's file with keys is read when a person allows it.
func TestUnread(t *testing.T) {
	root := t.TempDir()
	home, state := filepath.Join(root, "home"), filepath.Join(root, "state", "org-agent")
	for _, directory := range []string{filepath.Join(root, "elsewhere"), filepath.Join(home, "secrets"), state} {
		if err := os.MkdirAll(directory, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(root, "elsewhere"), filepath.Join(home, "sessions")); err != nil {
		t.Fatal(err)
	}
	rules := filepath.Join(home, "policy.org")
	if err := os.WriteFile(rules, []byte("* Rules\n| rule | matches | verdict | why | since |\n|---\n| reads | /** | allow | all | |\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := policy.Policy{Kinds: kinds, Home: home, State: state, Rules: &policy.RuleFile{Path: rules, Home: home}}
	unread := policy.Unread(home, state)
	for _, c := range []struct {
		path   string
		passed bool
		read   policy.Kind
	}{
		{home + "/notes.org", false, policy.Allow},
		{home + "/sessions", true, policy.Allow}, {home + "/sessions/main.org", true, policy.Allow}, {root + "/elsewhere/main.org", true, policy.Allow},
		{home + "/sessions-old/a.org", false, policy.Allow},
		{home + "/secrets", true, policy.Refuse}, {home + "/secrets/mail", true, policy.Refuse},
		{state, true, policy.Refuse}, {state + "/journal.db", true, policy.Refuse}, {state + "-2/a", false, policy.Allow},
		{root + "/src/a.go", false, policy.Allow}, {root + "/src/.ssh/id_rsa", true, policy.Refuse}, {root + "/.authinfo.gpg", true, policy.Refuse},
		{root + "/src/.env", true, policy.Ask}, {root + "/src/.env.production", true, policy.Ask}, {root + "/src/.envrc", true, policy.Ask},
		{root + "/.config/gh/hosts.yml", true, policy.Refuse}, {root + "/x/ID_ED25519.bak", true, policy.Refuse}, {root + "/.bash_history", true, policy.Ask},
		{root + "/src/.env.example", false, policy.Allow}, {root + "/src/.environment", false, policy.Allow},
	} {
		if got := unread(c.path); got != c.passed {
			t.Errorf("%s is passed over: %v", c.path, got)
		}
		if v := p.JudgeReach(protocol.Reach{Kind: protocol.ReachReads, Path: c.path}); v.Kind != c.read {
			t.Errorf("%s: %s, %s", c.path, v.Kind, v.Reason)
		}
	}
}

// TestBatchReaches checks that a batch is judged by its calls, and that each of its calls must only
// read.
func TestBatchReaches(t *testing.T) {
	home := t.TempDir()
	p := policy.Policy{Kinds: kinds, Home: home, Tools: workshop{home}}
	for _, c := range []struct {
		calls  string
		kind   policy.Kind
		reason string
	}{
		{`((:tool "read" :args (:reads "a")) (:tool "read" :args (:reads "b")))`, policy.Allow, "only read"},
		{`((:tool "read" :args (:reads "a")) (:tool "read" :args (:reads "/etc/passwd")))`, policy.Ask, "call 2 of the batch: it reads from outside the home: /etc/passwd"},
		{`((:tool "read" :args (:fetches "http://x/")))`, policy.Refuse, "does more than read"},
		{`((:tool "read" :args (:writes "a")))`, policy.Refuse, "does more than read"},
		{`((:tool "write" :args (:reads "a")))`, policy.Refuse, "does more than read"},
		{`((:tool "read" :args (:refused "a")))`, policy.Refuse, "call 1 of the batch: give it another name"},
	} {
		action := `(:type :request :target :tool :action :batch :calls ` + c.calls + `)`
		got := p.Judge(t.Context(), read(t, action), policy.Where{})
		if got.Kind != c.kind || !strings.Contains(got.Reason, c.reason) {
			t.Errorf("%s: %s, %q", action, got.Kind, got.Reason)
		}
		if c.kind == policy.Allow && !strings.Contains(got.Action.Canonical(), `"`+filepath.Join(home, "b")+`"`) {
			t.Errorf("what is judged is not resolved: %s", got.Action.Canonical())
		}
	}
}

// TestProject checks that files of the conversation's project may be read unless a rule forbids it,
// and that nothing else is allowed by it. A home directory under git is no project.
func TestProject(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	user := filepath.Join(root, "user")
	t.Setenv("HOME", user)
	home, state, project := filepath.Join(user, ".org-agent"), filepath.Join(user, "state"), filepath.Join(user, "src", "project")
	for _, directory := range []string{filepath.Join(user, ".git"), filepath.Join(project, ".git"), filepath.Join(project, "a", "b"), home, state, filepath.Join(root, "other", ".org-agent")} {
		if err := os.MkdirAll(directory, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		project: project, project + "/a/b": project, project + "/a/b/not-there": project, project + "-b/a": "", user + "/a": "", user: "", root: "", "/": "",
		"": "", "relative": "", filepath.Join(root, "other", "a"): filepath.Join(root, "other"), home + "/sessions/main.org": "",
	} {
		if got := policy.ProjectOf(path); got != want {
			t.Errorf("the project of %q is %q", path, got)
		}
	}
	rules := filepath.Join(home, "policy.org")
	p := policy.Policy{Kinds: kinds, Home: home, State: state, Tools: workshop{project}, Rules: &policy.RuleFile{Path: rules, Home: home}}
	try := func(arguments string, kind policy.Kind, reason string) {
		t.Helper()
		where := policy.Where{Projects: &policy.Projects{Given: []string{"", project}}}
		action := read(t, `(:type :request :target :tool :action :call :tool "write" :args `+arguments+`)`)
		if got := p.Judge(t.Context(), action, where); got.Kind != kind || !strings.Contains(got.Reason, reason) {
			t.Errorf("%s: %s, %s", arguments, got.Kind, got.Reason)
		}
		if got := p.Judge(t.Context(), action, policy.Where{}); got.Kind == policy.Allow {
			t.Errorf("%s is allowed everywhere", arguments)
		}
	}
	try(`(:reads "a/b")`, policy.Allow, "in the conversation's project")
	try(`(:reads ".")`, policy.Allow, "project")
	try(`(:reads "../project-b")`, policy.Ask, "outside the home")
	try(`(:reads "..")`, policy.Ask, "outside the home")
	try(`(:reads ".env")`, policy.Ask, "keys and passwords may be")
	try(`(:reads "a/.ssh/id_rsa")`, policy.Refuse, "keys and passwords")
	try(`(:writes "a/b")`, policy.Ask, "changes")
	try(`(:runs "cat b <a")`, policy.Ask, "no rule allows")
	if err := os.WriteFile(rules, []byte("* Rules\n| rule | matches | verdict | why | since |\n|---\n| reads | "+project+"/a/** | refuse | no | |\n| runs | cat ** | allow | | |\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	try(`(:reads "a/b")`, policy.Refuse, "says refuse")
	try(`(:reads "c")`, policy.Allow, "project")
	try(`(:runs "cat `+project+`/.env")`, policy.Ask, "is protected")
	if err := os.WriteFile(rules, []byte("* Rules\n| rule | matches |\n|---\n| rides | x |\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	try(`(:reads "c")`, policy.Refuse, "cannot be read")
}
