package policy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/act"
	"org-agent/kernel/action"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

const ruleHead = "* Rules\n| rule | matches | verdict | why | since |\n|-\n"

// TestRulesElsewhere: a rule that stands anywhere but in the table is a fault, with which everything that
// rules decide is refused. It may be a rule that refuses.
func TestRulesElsewhere(t *testing.T) {
	const head, row = "| rule | matches | verdict | why | since |\n", "| runs | rm ** | refuse | | |\n"
	for name, text := range map[string]string{
		"no heading":          head + row,
		"before the first":    head + row + "\n" + ruleHead,
		"another heading":     "* My rules\n" + head + "|--+--|\n" + row,
		"behind the table":    ruleHead + "| runs | ls | allow | | |\n* More\n" + head + row,
		"a heading below":     ruleHead + "** For git\n" + head + row,
		"with a cookie":       "* Rules [1/2]\n" + head + row,
		"with a percentage":   "* Rules [50%]\n" + head + row,
		"with emphasis":       "* *Rules*\n" + head + row,
		"with a colon":        "* Rules:\n" + head + row,
		"commented out":       "* COMMENT Rules\n" + head + row,
		"archived":            "* Rules :ARCHIVE:\n" + head + row,
		"in another language": "* Regeln\n" + head + row,
		"no space":            "*Rules*\n" + head + row,
		"other case":          "* More\n| Rule | MATCHES | *Verdict* | =why= | Since |\n",
		"without a head":      "* More\n" + row,
		"another head":        "* More\n| Regel | passt auf | Urteil | warum | seit |\n|---+---+---+---+---|\n" + row,
		"indented":            "* More\n- see\n  " + row,
		"three columns":       "* More\n| rule | matches | verdict |\n|-\n| runs | rm ** | refuse |\n",
		"only a short row":    "* More\n| runs | rm ** | refuse |\n",
		"in another order":    "* More\n| verdict | rule | matches | why | since |\n|-\n| refuse | runs | rm ** | | |\n",
		"a rule for a tool":   "* More\n| tool exec | | *Refuse* |\n",
		"in a directory":      "* More\n| runs in ~/src | rm ** | Ask | no |\n",
		"in a drawer":         "* More\n:LOGBOOK:\n" + row + ":END:\n",
	} {
		t.Run(name, func(t *testing.T) {
			faults := policy.ParseRules(text, "p", "/home/ann/.org-agent", "/home/ann").Faults()
			if len(faults) != 1 || !strings.Contains(faults[0].Error(), `only in the table under the heading "Rules"`) {
				t.Errorf("%q: %v", text, faults)
			}
		})
	}
}

// TestFaultsOfRules checks that each unreadable row is reported with its line and its remedy.
func TestFaultsOfRules(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{ruleHead + "| runs | ls | alow | | |\n", `p:4: the verdict is allow, ask or refuse, not "alow": did you mean allow?`},
		{ruleHead + "| run | ls | allow | | |\n", `p:4: a rule is one of reads, writes, runs, fetches, sends, runs in DIRECTORY, tool NAME, action :TARGET :NAME, action, not "run": did you mean runs?`},
		{ruleHead + "| runs | ls | allow |\n", "p:4: the row has 3 cells"},
		{ruleHead + "| runs | a | b | allow | | |\n", `a bar in a cell is written \vert{}`},
		{ruleHead + "| runs | | allow | | |\n", "p:4: the rule matches no command"},
		{ruleHead + "| runs | ls 'a | allow | | |\n", "the quote ' has no end"},
		{ruleHead + "| runs | ** | allow | | |\n", "begins with the name of a program"},
		{ruleHead + "| runs | ls ** x | refuse | | |\n", "nothing stands behind it"},
		{ruleHead + "| runs | ls *.go | allow | | |\n", "* stands for a whole word"},
		{ruleHead + "| runs | ls && rm | allow | | |\n", "a rule is for one command"},
		{ruleHead + "| reads | | allow | | |\n", "the rule matches no file"},
		{ruleHead + "| reads | ~bob/x | allow | | |\n", "another user's files"},
		{ruleHead + "| writes | /a/../b | allow | | |\n", "is no name that begins"},
		{ruleHead + "| fetches | | allow | | |\n", "the rule matches no address"},
		{ruleHead + "| fetches | ex*mple.org | allow | | |\n", "is no host"},
		{ruleHead + "| fetches | me@example.org | allow | | |\n", "is no host"},
		{ruleHead + "| fetches | example.org/a*b | allow | | |\n", "** stands at the end"},
		{ruleHead + "| sends | telegram | allow | | |\n", "write a channel and the id of a chat"},
		{ruleHead + "| tool | | allow | | |\n", "a rule is one of"},
		{ruleHead + "| tool read | x | allow | | |\n", "leave that cell empty"},
		{ruleHead + "| action | | allow | | |\n", "a rule for one action has its hash"},
		{ruleHead + "| action | " + strings.Repeat("A", 64) + " | allow | | |\n", "a rule for one action has its hash"},
		{ruleHead + "| action | " + strings.Repeat("a", 64) + " | allow | | |\n", ""},
		{ruleHead + "| runs in ~/src/X y | make ** | allow | | |\n", ""},
		{ruleHead + "| runs ~/src | make | allow | | |\n", "written as runs in DIRECTORY"},
		{ruleHead + "| runs in | make | allow | | |\n", "written as runs in DIRECTORY"},
		{ruleHead + "| runs in ~/src/* | make | allow | | |\n", "names one directory"},
		{ruleHead + "| runs in ~bob/x | make | allow | | |\n", "another user's files"},
		{ruleHead + "| action door | | allow | | |\n", "written as action :TARGET :NAME"},
		{ruleHead + "| action :door :knock :twice | | allow | | |\n", "written as action :TARGET :NAME"},
		{ruleHead + "| action :door :knock | x | allow | | |\n", "leave that cell empty"},
		{"* Rules\n| rule | verdict |\n", "p:2: the table of rules begins with"},
		{ruleHead + "* rules\n", `p:4: there is a second heading "Rules"`},
		{ruleHead + "| runs | ls | allow | | |\n|  | <10> | | | |\n#+begin_example\n| broken |\n#+end_example\n* Others\n| broken |\n* COMMENT Rules\n| broken |\n", ""},
		{"no rules at all", ""},
		{ruleHead + "| runs | ls | allow | | |\n* Notes\n| what | when |\n|------|------|\n| runs | today |\n", ""},
		{ruleHead + "* Notes\n: | runs | ls | allow | | |\n# | runs | ls | allow | | |\n#+begin_quote\n| runs | ls | allow | | |\n#+end_quote\n", ""},
		{"* Grants\n| note | capabilities | blocks | since |\n", ""},
	} {
		faults := policy.ParseRules(c.text, "p", "/home/ann/.org-agent", "/home/ann").Faults()
		switch {
		case c.want == "" && len(faults) > 0:
			t.Errorf("%q: %v", c.text, faults)
		case c.want != "" && (len(faults) != 1 || !strings.Contains(faults[0].Error(), c.want)):
			t.Errorf("%q: %v, not %s", c.text, faults, c.want)
		}
	}
}

// TestStarter checks that the policy.org of a new home has no rule and no fault, and that its
// examples are valid rows.
func TestStarter(t *testing.T) {
	starter, err := os.ReadFile("../config/policy.org")
	if err != nil {
		t.Fatal(err)
	}
	p := withRules(t, string(starter))
	if v := p.Judge(t.Context(), read(t, command(t, "git status")), policy.Where{}); v.Kind != policy.Ask || len(p.Rules.Rules().Faults()) > 0 {
		t.Errorf("%s, %v", v.Reason, p.Rules.Rules().Faults())
	}
	text := strings.ReplaceAll(string(starter), "\n: |", "\n|")
	head := "| rule | matches | verdict | why | since |\n"
	at := strings.Index(text, "| runs ")
	text = text[:at] + head + strings.ReplaceAll(text[at:], head, "")
	p = withRules(t, text)
	if faults := p.Rules.Rules().Faults(); len(faults) > 0 {
		t.Fatal(faults)
	}
	for text, want := range map[string]policy.Kind{"git status": policy.Allow, "git push": policy.Refuse, "make test": policy.Allow, "make": policy.Ask} {
		if v := p.Judge(t.Context(), read(t, command(t, text)), policy.Where{}); v.Kind != want {
			t.Errorf("%s: %s, %s", text, v.Kind, v.Reason)
		}
	}
}

// TestRuleFile checks that the current text of the file counts, even if it was replaced by a file
// of the same size. An unreadable file refuses what it could decide, but not reading in the home.
func TestRuleFile(t *testing.T) {
	p := withRules(t, ruleHead+"| runs | ls | allow | | |\n")
	kind := func() policy.Kind {
		return p.Judge(t.Context(), read(t, command(t, "ls")), policy.Where{}).Kind
	}
	write := func(text string) {
		if err := os.WriteFile(p.Rules.Path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := kind(); got != policy.Allow {
		t.Fatal(got)
	}
	for range 20 {
		if write(ruleHead + "| runs | lr | allow | | |\n"); kind() != policy.Ask {
			t.Fatal("an old rule counts")
		}
		if write(ruleHead + "| runs | ls | allow | | |\n"); kind() != policy.Allow {
			t.Fatal("a new rule does not count")
		}
	}
	for name, spoil := range map[string]func() error{
		"a directory": func() error { return os.Mkdir(p.Rules.Path, 0o700) },
		"a link":      func() error { return os.Symlink("nowhere", p.Rules.Path) },
		"not UTF-8":   func() error { return os.WriteFile(p.Rules.Path, []byte("\xff"), 0o600) },
		"large":       func() error { return os.WriteFile(p.Rules.Path, make([]byte, 2<<20), 0o600) },
		"a bad row":   func() error { return os.WriteFile(p.Rules.Path, []byte(ruleHead+"| x |\n"), 0o600) },
	} {
		if err := os.RemoveAll(p.Rules.Path); err != nil {
			t.Fatal(err)
		}
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if got := kind(); got != policy.Refuse {
			t.Errorf("%s: %s", name, got)
		}
		p.Tools = shed{"send": ""}
		if v := p.Judge(t.Context(), read(t, `(:type :request :target :tool :action :call :tool "send")`), policy.Where{}); v.Kind != policy.Refuse || !strings.Contains(v.Reason, "calls send, and the rules cannot be read: ") {
			t.Errorf("%s: a tool of which only the name is known: %s, %q", name, v.Kind, v.Reason)
		}
		p.Tools = nil
		for _, c := range []struct {
			reach protocol.Reach
			want  policy.Kind
		}{
			{protocol.Reach{Kind: protocol.ReachReads, Path: filepath.Join(p.Home, "a")}, policy.Allow},
			{protocol.Reach{Kind: protocol.ReachReads, Path: "/etc/hostname"}, policy.Refuse},
			{protocol.Reach{Kind: protocol.ReachWrites, Path: filepath.Join(p.Home, "a")}, policy.Refuse},
			{protocol.Reach{Kind: protocol.ReachFetches, URL: "http://a/"}, policy.Refuse},
		} {
			if v := p.JudgeReach(c.reach); v.Kind != c.want {
				t.Errorf("%s: %+v: %s, %s", name, c.reach, v.Kind, v.Reason)
			}
		}
	}
	if err := os.RemoveAll(p.Rules.Path); err != nil {
		t.Fatal(err)
	}
	if got := kind(); got != policy.Ask {
		t.Errorf("without a file: %s", got)
	}
}

// TestPathsAndAddresses checks what rows of files and of addresses match.
func TestPathsAndAddresses(t *testing.T) {
	root := t.TempDir()
	for _, directory := range []string{"home/sessions", "src/a/b", "elsewhere"} {
		if err := os.MkdirAll(filepath.Join(root, directory), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(root, "elsewhere"), filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(root, "home")
	p := &policy.Policy{Kinds: kinds, Home: home, Rules: &policy.RuleFile{Path: filepath.Join(home, "policy.org"), Home: home}}
	for _, c := range []struct {
		rows  string // ROOT stands for the test's directory
		reach protocol.Reach
		want  policy.Kind
	}{
		{"| reads | ROOT/src/** | allow |", protocol.Reach{Kind: "reads", Path: "ROOT/src/a/b"}, policy.Allow},
		{"| reads | ROOT/src/** | allow |", protocol.Reach{Kind: "reads", Path: "ROOT/src"}, policy.Allow},
		{"| reads | ROOT/src/** | allow |", protocol.Reach{Kind: "reads", Path: "ROOT/srcs"}, policy.Ask},
		{"| reads | ROOT/src/** | allow |", protocol.Reach{Kind: "reads", Path: "ROOT"}, policy.Ask},
		{"| reads | ROOT/src/* | allow |", protocol.Reach{Kind: "reads", Path: "ROOT/src/x.go"}, policy.Allow},
		{"| reads | ROOT/src/* | allow |", protocol.Reach{Kind: "reads", Path: "ROOT/src/a"}, policy.Ask}, // the directory has further contents
		{"| reads | ROOT/src/*.go | allow |", protocol.Reach{Kind: "reads", Path: "ROOT/src/a/x.go"}, policy.Ask},
		{"| reads | ROOT/src/**/*.go | allow |", protocol.Reach{Kind: "reads", Path: "ROOT/src/a/b/x.go"}, policy.Allow},
		{"| reads | ROOT/src/**/*.go | allow |", protocol.Reach{Kind: "reads", Path: "ROOT/src/x.go"}, policy.Allow},
		{"| reads | ROOT/link/** | allow |", protocol.Reach{Kind: "reads", Path: "ROOT/elsewhere/x"}, policy.Allow},
		{"| reads | a.+b | allow |", protocol.Reach{Kind: "writes", Path: "ROOT/home/a.+b"}, policy.Ask},
		{"| writes | a.+b | allow |", protocol.Reach{Kind: "writes", Path: "ROOT/home/a.+b"}, policy.Allow},
		{"| writes | a.+b | allow |", protocol.Reach{Kind: "writes", Path: "ROOT/home/aaab"}, policy.Ask},
		{"| reads | private/** | refuse |", protocol.Reach{Kind: "reads", Path: "ROOT/home/private/x"}, policy.Refuse},
		{"| reads | private/** | refuse |", protocol.Reach{Kind: "reads", Path: "ROOT/home"}, policy.Ask}, // the refused directory lies in it
		{"| reads | private/** | refuse |", protocol.Reach{Kind: "reads", Path: "ROOT/home/public"}, policy.Allow},
		{"| reads | private/** | ask |", protocol.Reach{Kind: "reads", Path: "ROOT/home"}, policy.Ask},
		{"| reads | ** | allow |", protocol.Reach{Kind: "reads", Path: "ROOT/home/.ssh/id"}, policy.Refuse},
		{"| writes | /** | allow |", protocol.Reach{Kind: "writes", Path: "ROOT/home/sessions/main.org"}, policy.Refuse},
		{"| writes | /** | allow |", protocol.Reach{Kind: "writes", Path: "ROOT/home/config.org"}, policy.Ask},
		{"| writes | /** | allow |", protocol.Reach{Kind: "writes", Path: "ROOT/src/.git/config"}, policy.Ask},
		{"| writes | /** | allow |", protocol.Reach{Kind: "writes", Path: "/tmp/x"}, policy.Allow},
		{"| fetches | example.org | allow |", protocol.Reach{Kind: "fetches", URL: "https://Example.org./x"}, policy.Allow},
		{"| fetches | example.org | allow |", protocol.Reach{Kind: "fetches", URL: "https://example.org:8443/x"}, policy.Ask},
		{"| fetches | example.org:8443 | allow |", protocol.Reach{Kind: "fetches", URL: "https://example.org:8443/x"}, policy.Allow},
		{"| fetches | example.org | allow |", protocol.Reach{Kind: "fetches", URL: "https://example.org@evil.com/"}, policy.Ask},
		{"| fetches | example.org | allow |", protocol.Reach{Kind: "fetches", URL: "https://me@example.org/"}, policy.Ask},
		{"| fetches | example.org | allow |", protocol.Reach{Kind: "fetches", URL: "https://example.org.evil.com/"}, policy.Ask},
		{"| fetches | example.org | allow |", protocol.Reach{Kind: "fetches", URL: "ftp://example.org/"}, policy.Ask},
		{"| fetches | *.example.org | allow |", protocol.Reach{Kind: "fetches", URL: "https://a.b.example.org/"}, policy.Allow},
		{"| fetches | *.example.org | allow |", protocol.Reach{Kind: "fetches", URL: "https://badexample.org/"}, policy.Ask},
		{"| fetches | example.org/docs/** | allow |", protocol.Reach{Kind: "fetches", URL: "https://example.org/docs/a?q"}, policy.Allow},
		{"| fetches | example.org/docs/** | allow |", protocol.Reach{Kind: "fetches", URL: "https://example.org/docs/../x"}, policy.Ask},
		{"| fetches | example.org/docs/** | allow |", protocol.Reach{Kind: "fetches", URL: "https://example.org/docs/%2e%2e/x"}, policy.Ask},
		{"| fetches | example.org/docs/** | allow |", protocol.Reach{Kind: "fetches", URL: "https://example.org/documents"}, policy.Ask},
		{"| fetches | * | allow |", protocol.Reach{Kind: "fetches", URL: "https://example.org/x"}, policy.Allow},
		{"| sends | Telegram 4711 | allow |", protocol.Reach{Kind: "sends", Chat: "telegram 4711"}, policy.Allow},
		{"| sends | telegram 4711 | allow |", protocol.Reach{Kind: "sends", Chat: "telegram 4711/7"}, policy.Ask},
		{"| sends | telegram 4711 | allow |", protocol.Reach{Kind: "sends", Chat: "signal 4711"}, policy.Ask},
		{"| sends | matrix !Room:x | allow |", protocol.Reach{Kind: "sends", Chat: "matrix !room:x"}, policy.Ask},
		{"| sends | telegram * | allow |", protocol.Reach{Kind: "sends", Chat: "telegram 4711/7"}, policy.Allow},
		{"| sends | * | allow |\n| sends | signal +1 | refuse |", protocol.Reach{Kind: "sends", Chat: "signal +1"}, policy.Refuse},
		{"| sends | * | allow |", protocol.Reach{Kind: "sends", Chat: "emacs work"}, policy.Allow},
		{"| fetches | * | allow |", protocol.Reach{Kind: "fetches", URL: "*"}, policy.Ask}, // a command's network has this machine's services too
		{"| fetches | * | refuse |", protocol.Reach{Kind: "fetches", URL: "*"}, policy.Refuse},
		{"| fetches | example.org | allow |", protocol.Reach{Kind: "fetches", URL: "*"}, policy.Ask},
		{"| fetches | example.org | refuse |", protocol.Reach{Kind: "fetches", URL: "http://me@EXAMPLE.org:99/"}, policy.Refuse},
		{"| fetches | * | allow |\n| fetches | example.org | refuse |", protocol.Reach{Kind: "fetches", URL: "*"}, policy.Ask},
		{"| fetches | * | allow |\n| fetches | example.org/x/** | refuse |", protocol.Reach{Kind: "fetches", URL: "http://example.org/a/../x/b"}, policy.Ask},
	} {
		rows := strings.ReplaceAll(strings.ReplaceAll(c.rows, "ROOT", root), "\n", " | |\n")
		if err := os.WriteFile(p.Rules.Path, []byte(ruleHead+rows+" | |\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c.reach.Path = strings.ReplaceAll(c.reach.Path, "ROOT", root)
		if v := p.JudgeReach(c.reach); v.Kind != c.want || len(p.Rules.Rules().Faults()) > 0 {
			t.Errorf("%s: %+v: %s, %s", c.rows, c.reach, v.Kind, v.Reason)
		}
	}
}

// renamed is a list of tools in which the hammer was called mallet before.
type renamed struct{ shed }

func (r renamed) Find(name string) (string, protocol.ToolEffect, bool) {
	if strings.EqualFold(name, "mallet") {
		name = "hammer"
	}
	return r.shed.Find(name)
}

// TestRowsOfFormerNames checks that a row with the former name of a tool still counts.
func TestRowsOfFormerNames(t *testing.T) {
	for row, want := range map[string]policy.Kind{
		"| tool mallet | | allow | | |\n": policy.Allow, "| tool Mallet | | refuse | | |\n": policy.Refuse, "| tool chisel | | allow | | |\n": policy.Ask,
	} {
		p := withRules(t, ruleHead+row)
		p.Tools = renamed{shed{"hammer": ""}}
		if v := p.Judge(t.Context(), read(t, `(:type :request :target :tool :action :call :tool "hammer")`), policy.Where{}); v.Kind != want {
			t.Errorf("%s: %s, %s", row, v.Kind, v.Reason)
		}
	}
}

// TestToolRows checks that a row about a tool narrows its calls, and allows a call only if nothing
// but the tool's name is known.
func TestToolRows(t *testing.T) {
	root := t.TempDir()
	for _, c := range []struct {
		rows, tool, arguments string
		want                  policy.Kind
	}{
		{"| tool read | | refuse | | |\n", "read", `(:reads "home/a")`, policy.Refuse},
		{"| tool read | | ask | | |\n", "read", `(:reads "home/a")`, policy.Ask},
		{"| tool read | * | allow | | |\n", "read", `(:reads "/etc/passwd")`, policy.Ask},
		{"| tool write | | allow | | |\n", "write", `(:writes "home/a")`, policy.Ask},
		{"| tool * | | refuse | | |\n", "write", `(:reads "home/a")`, policy.Refuse},
	} {
		p := withRules(t, ruleHead+c.rows)
		p.Home, p.Tools = filepath.Join(root, "home"), workshop{root}
		if err := os.MkdirAll(p.Home, 0o700); err != nil {
			t.Fatal(err)
		}
		v := p.Judge(t.Context(), read(t, `(:type :request :target :tool :action :call :tool "`+c.tool+`" :args `+c.arguments+`)`), policy.Where{})
		if v.Kind != c.want {
			t.Errorf("%s %s %s: %s, %s", c.rows, c.tool, c.arguments, v.Kind, v.Reason)
		}
	}
	for _, c := range []struct {
		rows string
		want policy.Kind
	}{
		{"| tool hammer | | allow | | |\n", policy.Allow}, {"| tool HAMMER | | allow | | |\n| tool hammer | | ask | | |\n", policy.Ask},
		{"| tool hammer | | ask | | |\n| tool hammer | | allow | | |\n", policy.Ask}, {"| tool hammer | | allow | | |\n| tool * | | refuse | | |\n", policy.Refuse}, {"| broken |\n", policy.Refuse},
	} {
		p := withRules(t, ruleHead+c.rows)
		p.Tools = shed{"hammer": ""}
		if v := p.Judge(t.Context(), read(t, `(:type :request :target :tool :action :call :tool "hammer")`), policy.Where{}); v.Kind != c.want {
			t.Errorf("%s: %s, %s", c.rows, v.Kind, v.Reason)
		}
	}
}

// TestActionRows checks that a row about an action narrows it, and allows it only if nothing but
// its name is known. Such a row does not block an answer in the turn's own conversation.
func TestActionRows(t *testing.T) {
	const knock = `(:type :request :target :door :action :knock)`
	const message = `(:type :request :target :emacs :action :message :text "hi")`
	const command = `(:type :request :target :shell :cmd "rm x")`
	bare := kind.New(append(act.Kinds(act.Deps{}), kind.Kind{Spec: action.Spec{Target: "door", Name: "knock"}})...)
	for _, c := range []struct {
		rows, action string
		want         policy.Kind
	}{
		{"", knock, policy.Ask},
		{"| action :door :knock | | allow | my door | |\n", knock, policy.Allow},
		{"| action :Door :KNOCK | * | allow | | |\n", knock, policy.Allow},
		{"| action :door | | allow | | |\n", knock, policy.Allow},
		{"| action :door :open | | allow | | |\n", knock, policy.Ask},
		{"| action :door | | allow | | |\n| action :door :knock | | refuse | | |\n", knock, policy.Refuse},
		{"| action :door | | allow | | |\n| broken |\n", knock, policy.Refuse},
		{"| action :emacs :message | | refuse | | |\n", message, policy.Refuse},
		{"| action :emacs | | ask | | |\n", message, policy.Ask},
		{"| action :shell | | allow | | |\n", command, policy.Ask},
		{"| action :response | | refuse | | |\n", `(:type :response :text "hi")`, policy.Allow},
	} {
		p := withRules(t, ruleHead+c.rows)
		p.Kinds = bare
		if v := p.Judge(t.Context(), read(t, c.action), policy.Where{}); v.Kind != c.want {
			t.Errorf("%s %s: %s, %s", c.rows, c.action, v.Kind, v.Reason)
		}
	}
}
