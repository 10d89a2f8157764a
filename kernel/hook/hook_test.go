package hook_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"org-agent/kernel/act"
	"org-agent/kernel/action"
	"org-agent/kernel/channel"
	"org-agent/kernel/hook"
	"org-agent/kernel/kind"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/sandbox"
	"org-agent/kernel/skill"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	goleak.VerifyTestMain(m)
}

var fence = sync.OnceValue(func() sandbox.Kind { kind, _ := sandbox.Probe(context.Background()); return kind })

// fixture is a home whose notes have hooks.
type fixture struct {
	t     *testing.T
	notes *skill.Registry
	dir   string
	hooks *hook.Hooks
}

// newFixture makes a home with these notes, given by name and text.
func newFixture(t *testing.T, notes ...string) *fixture {
	t.Helper()
	h := &fixture{t: t, dir: t.TempDir()}
	for i := 0; i < len(notes); i += 2 {
		h.write(notes[i], notes[i+1])
	}
	h.notes = skill.New(skill.Config{Home: h.dir})
	h.notes.Load(t.Context())
	h.hooks = hook.New(hook.Config{Skills: h.notes.Current, Kind: fence, Home: "/home/nobody", ScriptTime: time.Minute})
	return h
}

func (h *fixture) write(name, text string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, name), []byte("#+TITLE: A note\n\n"+text), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

// guard returns a note with a hook in Lisp before exec, with this name and body.
func guard(name, body string) string {
	return fmt.Sprintf("#+begin_src lisp\n(defhook %s :on (before-tool \"exec\")\n  :function (lambda (event) (declare (ignorable event)) %s))\n#+end_src\n", name, body)
}

// script returns a note with a shell hook.
func script(arguments, body string) string {
	return "#+begin_src sh " + arguments + "\n" + body + "\n#+end_src\n"
}

// kinds are the built-in kinds.
var kinds = kind.New(append(act.Kinds(act.Deps{}), channel.Known()...)...)

func proposed(t *testing.T, text string) action.Action {
	t.Helper()
	p, err := action.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	return p.Action()
}

var where = policy.Where{Session: "main", Turn: "t1", Route: protocol.LocalRoute(protocol.ChannelEmacs), Kinds: kinds}

// running returns a call of exec.
func running(t *testing.T, command string) action.Action {
	return proposed(t, `(:type :request :target :tool :payload (:action :call :tool "exec" :args (:command `+plist.Print(plist.String(command))+`)))`)
}

// before returns the decisions of the hooks on a call of exec, one on each line.
func (h *fixture) before(command string) string {
	h.t.Helper()
	var lines []string
	for _, d := range h.hooks.Before(h.t.Context(), running(h.t, command), where) {
		line := fmt.Sprintf("%s %s", d.Kind, d.Reason)
		if d.Append != "" {
			line += " +" + d.Append
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// TestAnswers checks the decision for each answer of a hook in Lisp.
func TestAnswers(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`nil`, "allow the hook g (g.org:4) has no objection"},
		{`'(:allow)`, "allow the hook g (g.org:4) has no objection"},
		{`:allow`, "allow the hook g (g.org:4) has no objection"},
		{`'(:refuse "no pushes")`, "refuse the hook g (g.org:4) refuses it: no pushes"},
		{`(list :ask (format nil "two~%lines"))`, "ask the hook g (g.org:4) asks: two lines"},
		{`'(:append " mind the gap ")`, "allow the hook g (g.org:4) has no objection +mind the gap"},
		{`'(:ask "why" :append "more")`, "ask the hook g (g.org:4) asks: why +more"},
		{`'(:ask "a" :refuse "b")`, "refuse the hook g (g.org:4) refuses it: b"},
		{`'(:refuse "")`, "refuse the hook g (g.org:4) refuses it"},
		{`(getf (getf event :arguments) :command)`, `ask the hook g (g.org:4) failed, so that you are asked: it returned "ls", and not nil, (:allow)`},
		{`t`, `ask the hook g (g.org:4) failed, so that you are asked: it returned t`},
		{`'(:deny "x")`, `ask the hook g (g.org:4) failed, so that you are asked: it says "deny", of which nothing is known`},
		{`'(:refuse)`, `in which one text has to follow :refuse`},
		{`'(:append "a" :append "b")`, `in which one text has to follow :append`},
		{`(make-hash-table)`, `it returned what is no data`},
		{`(error "boom")`, "ask the hook g (g.org:4) failed, so that you are asked: g.org:5:"},
		{`(car 5)`, "so that you are asked: g.org:5:"},
		{`(loop)`, "so that you are asked: "},                                                // by steps or by time
		{`(let ((l nil)) (loop (push (make-string 1000000) l)))`, "so that you are asked: "}, // by bytes or by time
		{`(labels ((f (n) (1+ (f n)))) (f 1))`, "so that you are asked: "},                   // by depth or by time
		{`(ask-neuro "let me")`, "was called by a hook"},
		{`(inject-stimulus '(:type :event))`, "was called by a hook"},
	} {
		t.Run(c.body, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t, "g.org", guard("g", c.body))
			if got := h.before("ls"); !strings.HasPrefix(got, c.want) && (!strings.HasPrefix(got, "ask ") || !strings.Contains(got, c.want)) {
				t.Errorf("the hook is taken to say\n%s\nand not\n%s", got, c.want)
			}
		})
	}
}

// TestLongAnswers checks that a hook's answer is bounded, and is one line where it is shown on one.
func TestLongAnswers(t *testing.T) {
	h := newFixture(t, "g.org", guard("g", `(list :refuse (make-string 100000 :initial-element #\a) :append (make-string 1000000 :initial-element #\b))`))
	decisions := h.hooks.Before(t.Context(), running(t, "ls"), where)
	if len(decisions) != 1 || len(decisions[0].Reason) > 700 || len(decisions[0].Append) > 9000 || !strings.Contains(decisions[0].Append, "bytes more]") {
		t.Errorf("%d bytes of reason, %d for the model", len(decisions[0].Reason), len(decisions[0].Append))
	}
}

// TestManyAdd checks that the texts of all hooks of an action are bounded together.
func TestManyAdd(t *testing.T) {
	var notes []string
	for i := range 20 {
		notes = append(notes, fmt.Sprintf("n%02d.org", i), guard("g", `(list :append (make-string 8000 :initial-element #\b))`))
	}
	h := newFixture(t, notes...)
	total, whole := 0, 0
	for _, d := range h.hooks.Before(t.Context(), running(t, "ls"), where) {
		total += len(d.Append)
		if len(d.Append) == 8000 {
			whole++
		}
	}
	if whole != 4 || total > 34_000 {
		t.Errorf("%d bytes are added, %d texts whole", total, whole)
	}
}

// TestScriptsWithoutFence checks that without a sandbox no script runs and the call asks.
func TestScriptsWithoutFence(t *testing.T) {
	h := newFixture(t, "s.org", "#+name: s\n"+script(":hook before-tool", "touch "+filepath.Join(t.TempDir(), "ran")))
	h.hooks = hook.New(hook.Config{Skills: h.notes.Current, Kind: func() sandbox.Kind { return sandbox.None }})
	if got := h.before("ls"); !strings.Contains(got, "ask the hook s (s.org:4) failed, so that you are asked: this system has no sandbox") {
		t.Errorf("got %s", got)
	}
}

// TestEvent checks the event that hooks receive, in Lisp and as JSON.
func TestEvent(t *testing.T) {
	h := newFixture(t, "a.org", guard("a", `(list :append (prin1-to-string event))`), "b.org", script(":hook before-tool :tool exec", "cat"))
	got := h.before(`ls "x"`)
	for _, want := range []string{
		`(:EVENT :BEFORE-TOOL :TOOL "exec" :ARGUMENTS (:COMMAND "ls \"x\"") :SESSION "main" :TURN "t1" :CHANNEL :EMACS)`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the hooks were told\n%s\nand not %s", got, want)
		}
	}
	if !hasFence(t) {
		return
	}
	// The script returns the event itself, which begins like an answer and is not one.
	if !strings.Contains(got, `the hook b-3 (b.org:3) failed`) {
		t.Errorf("the script's echo of the event was taken for an answer:\n%s", got)
	}
	h.write("b.org", script(":hook before-tool :tool exec", "printf 'told: '; cat"))
	h.notes.Load(t.Context())
	if got, want := h.before("ls"), `+told: {"event":"before-tool","tool":"exec","arguments":{"command":"ls"},"reach":null,"session":"main","turn":"t1","channel":"emacs"}`; !strings.Contains(got, want) {
		t.Errorf("the script was told\n%s\nand not\n%s", got, want)
	}
}

// hasFence reports whether this system can run scripts. Where it cannot, the call asks, and the
// tests of scripts end there.
func hasFence(t *testing.T) bool {
	t.Helper()
	if fence().Fenced() {
		return true
	}
	h := newFixture(t, "s.org", "#+name: s\n"+script(":hook before-tool :tool exec", "echo runs"))
	if got := h.before("ls"); !strings.HasPrefix(got, "ask ") || !strings.Contains(got, "this system has no sandbox") || strings.Contains(got, "runs") {
		t.Errorf("without a sandbox a script is taken to say %s", got)
	}
	return false
}

// TestScripts checks the decision for each exit status and output of a script.
func TestScripts(t *testing.T) {
	if !hasFence(t) {
		return
	}
	for _, c := range []struct{ body, want string }{
		{`exit 0`, "allow the hook s (s.org:4) has no objection"},
		{`echo mind the gap`, "allow the hook s (s.org:4) has no objection +mind the gap"},
		{`echo no pushes >&2; exit 2`, "refuse the hook s (s.org:4) refuses it: no pushes"},
		{`echo '{"verdict": "refuse", "why": "no"}'`, "refuse the hook s (s.org:4) refuses it: no"},
		{`echo '{"verdict": "ask", "why": "sure?", "append": "more"}'`, "ask the hook s (s.org:4) asks: sure? +more"},
		{`echo '{"verdict": "allow"}'`, "allow the hook s (s.org:4) has no objection"},
		{`echo '{"verdict": "maybe"}'`, `failed, so that you are asked: its verdict "maybe" is none of allow, ask and refuse`},
		{`echo '{"verdikt": "refuse"}'`, `failed, so that you are asked: what it wrote cannot be read`},
		{`echo '{"verdict": "allow"}{"verdict": "refuse"}'`, `it wrote more than one answer`},
		{`echo out of luck; exit 1`, "failed, so that you are asked: exit status 1: out of luck"},
		{`nosuchprogram`, "failed, so that you are asked: exit status 127"},
		{`kill -9 $$`, "failed, so that you are asked: "},
		{`grep -q '"command":"rm ' && exit 2; exit 0`, "allow "},
		{`yes | head -c 3000000`, "bytes more]"},
		{`cat /etc/passwd ~/.bashrc /home/*/.bashrc 2>/dev/null | grep -c bashrc; ls -A ~ | wc -l`, "+0\n0"},
		{`exec 3<>/dev/tcp/127.0.0.1/22 && echo open; exit 0`, "+"},
	} {
		t.Run(c.body, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t, "s.org", "#+name: s\n"+script(":hook before-tool :tool exec", c.body))
			got := h.before("ls")
			if !strings.HasPrefix(got, c.want) && (strings.HasPrefix(c.want, "allow ") || !strings.Contains(got, c.want)) {
				t.Errorf("the hook is taken to say\n%.300s\nand not\n%s", got, c.want)
			}
			if strings.Contains(got, "open") {
				t.Errorf("it has the network: %s", got)
			}
		})
	}
}

// TestSlowScript checks that a script that does not end is ended with all its processes, and that
// its call asks.
func TestSlowScript(t *testing.T) {
	if !hasFence(t) {
		return
	}
	h := newFixture(t, "s.org", "#+name: s\n"+script(":hook before-tool :tool exec", "sleep 1000 & setsid sleep 1000"), "q.org", guard("quick", "nil"))
	h.hooks = hook.New(hook.Config{Skills: h.notes.Current, Kind: fence, ScriptTime: time.Second / 2})
	all := h.hooks.Before(t.Context(), running(t, "ls"), where)
	if len(all) != 2 || all[0].Kind != policy.Allow || all[1].Kind != policy.Ask || !strings.Contains(all[1].Reason, "it took longer than 500ms") {
		t.Errorf("a script that does not end: %+v", all)
	}
}

// TestSlowHookDelaysNobody checks that a hanging hook of one conversation does not delay the hooks
// of other notes in other conversations.
func TestSlowHookDelaysNobody(t *testing.T) {
	h := newFixture(t, "a.org", guard("slow", `(when (equal (getf event :session) "slow") (loop))`), "b.org", guard("quick", `'(:refuse "b")`))
	slow := make(chan []policy.Decision)
	go func() {
		slow <- h.hooks.Before(t.Context(), running(t, "ls"), policy.Where{Session: "slow", Kinds: kinds})
	}()
	for range 5 {
		all := h.hooks.Before(t.Context(), running(t, "ls"), where)
		if len(all) != 2 || all[0].Kind != policy.Allow || all[1].Kind != policy.Refuse {
			t.Errorf("beside a slow hook others say %+v", all)
		}
	}
	all := <-slow
	if len(all) != 2 || all[0].Kind != policy.Ask || all[1].Kind != policy.Refuse {
		t.Errorf("the slow hook: %+v", all)
	}
}

// TestOrder checks that all hooks are called, and that their decisions are in the order of the
// notes and of the lines within a note.
func TestOrder(t *testing.T) {
	h := newFixture(t,
		"b.org", guard("b", `'(:refuse "2")`)+"\n#+name: c\n"+"#+begin_src lisp\n(defhook d :on before-tool :function (lambda (e) (declare (ignore e)) '(:ask \"3\")))\n(defhook e :on (before-tool write_file) :function (lambda (e) (declare (ignore e)) '(:ask \"not this\")))\n#+end_src\n",
		"a.org", guard("a", `'(:ask "1")`))
	want := "ask the hook a (a.org:4) asks: 1\nrefuse the hook b (b.org:4) refuses it: 2\nask the hook d (b.org:10) asks: 3"
	if got := h.before("ls"); got != want {
		t.Errorf("got\n%s\nand not\n%s", got, want)
	}
}

// TestBrokenNote checks that calls ask while a note that defines hooks is not live, with the note's
// fault and line, until it is repaired or deleted. A broken note without hooks has no effect.
func TestBrokenNote(t *testing.T) {
	h := newFixture(t, "g.org", guard("g", `'(:refuse "no")`), "other.org", "#+begin_src lisp\n(defun f (\n#+end_src\n")
	if got := h.before("ls"); got != "refuse the hook g (g.org:4) refuses it: no" {
		t.Fatalf("got %s", got)
	}
	h.write("g.org", guard("g", `(frob 1)`))
	h.notes.Load(t.Context())
	got := h.before("ls")
	if !strings.HasPrefix(got, "ask the hooks of g.org are not in force, so that you are asked: line 5: ") || !strings.Contains(strings.ToLower(got), "frob") {
		t.Errorf("of a broken note: %s", got)
	}
	if !strings.HasSuffix(got, "refuse the hook g (g.org:4) refuses it: no") {
		t.Errorf("what was live of it does not count any more: %s", got)
	}
	for _, broken := range []string{
		"#+begin_src sh :hook befor-tool\ntrue\n#+end_src\n",
		"#+begin_src python :hook before-tool\npass\n#+end_src\n",
		"#+begin_src sh :hook turn-start :tool exec\ntrue\n#+end_src\n",
		"#+begin_src sh :hook before-tool\n#+end_src\n",
		"#+begin_src sh :hook before-tool\ntrue\n",
		"#+begin_src lisp :hook before-tool\n(print 1)\n#+end_src\n",
		"#+begin_src lisp\n(defhook x :on (befor-tool) :function #'car)\n#+end_src\n",
		"#+begin_src lisp\n(defhook x :on before-tool)\n#+end_src\n",
		"#+begin_src lisp\n(defhook x :on before-tool :function 5)\n#+end_src\n",
		"#+begin_src lisp\n(org-agent:defhook x :om before-tool :function #'car)\n#+end_src\n",
		"#+begin_src lisp\n(defhook x :on before-tool :function #'car)\n(defhook x :on before-tool :function #'car)\n#+end_src\n",
		guard("g", "nil") + "\xff",
	} {
		fresh := newFixture(t, "g.org", broken)
		if got := fresh.before("ls"); !strings.HasPrefix(got, "ask the hooks of g.org are not in force, so that you are asked: line ") {
			t.Errorf("%q: %s", broken, got)
		}
	}
	h.write("g.org", "Nothing any more.\n")
	h.notes.Load(t.Context())
	if got := h.before("ls"); got != "" {
		t.Errorf("of a note without hooks: %s", got)
	}
}

// tools knows only exec.
type tools struct{ policy.Tools }

func (tools) Find(name string) (string, protocol.ToolEffect, bool) { return name, "", name == "exec" }
func (tools) Nearest(name string) string {
	if name == "exce" {
		return "exec"
	}
	return ""
}

// TestUnknown checks that a hook for an unknown tool is reported.
func TestUnknown(t *testing.T) {
	for on, want := range map[string]string{
		`"exec"`: "", `"exec" "emacs-edit" "Emacs_Set_Properties" "agent-spawn" "*"`: "", `"exec" "emacs-edti"`: `no tool is named "emacs-edti" now; did you mean "emacs-edit"?`, `"exce"`: `no tool is named "exce" now; did you mean "exec"?`, `"exec" "rm"`: `no tool is named "rm" now`,
	} {
		h := newFixture(t, "g.org", strings.Replace(guard("g", "nil"), `"exec"`, on, 1))
		if got := hook.UnknownTool(h.notes.Current().Hooks(skill.BeforeTool, strings.Trim(strings.Fields(on)[0], `"`))[0], tools{}, kinds); got != want {
			t.Errorf("%s: %s and not %s", on, got, want)
		}
	}
}

// TestCalls checks under which names hooks see each action.
func TestCalls(t *testing.T) {
	all := `(list :append (format nil "~(~a~) ~a ~(~s~)" (getf event :event) (or (getf event :tool) (getf event :to)) (getf event :arguments)))`
	h := newFixture(t, "a.org", "#+begin_src lisp\n(defun f (event) "+all+")\n(defhook a :on before-tool :function #'f)\n(defhook b :on :before-send :function 'f)\n#+end_src\n")
	for _, c := range []struct{ action, want string }{
		{`(:type :request :target :shell :payload (:cmd "ls" :cwd "/x"))`, `before-tool exec (:command "ls" :cwd "/x")`},
		{`(:type :request :target :tool :payload (:action :batch :calls ((:tool "glob" :args (:pattern "*")) (:tool "list_skills"))))`, `before-tool glob (:pattern "*") | before-tool list_skills nil`},
		{`(:type :request :target :emacs :payload (:action :edit :file "/x" :old "a" :new "b"))`, `before-tool emacs-edit (:file "/x" :old "a" :new "b")`},
		{`(:type :request :target :emacs :payload (:action :insert-at-end :buffer "*org-agent-chat: b*" :text "hi"))`, `before-send *org-agent-chat: b* nil`},
		{`(:type :request :target :telegram :payload (:chat-id 5 :text "hi"))`, `before-send 5 nil`},
		{`(:type :request :target :matrix :payload (:room-id "!a:b" :text "hi"))`, `before-send !a:b nil`},
		{`(:type :request :target :agent :payload (:action :spawn :task "x"))`, `before-tool agent-spawn (:task "x")`},
	} {
		var events []string
		for _, d := range h.hooks.Before(t.Context(), proposed(t, c.action), where) {
			events = append(events, d.Append)
		}
		if got := strings.Join(events, " | "); got != c.want {
			t.Errorf("%s: hooks are told %s and not %s", c.action, got, c.want)
		}
	}
}

// BenchmarkBefore measures the hooks of one call: one hook in Lisp, and one script.
func BenchmarkBefore(b *testing.B) {
	for name, note := range map[string]string{
		"none":   "Nothing.\n",
		"lisp":   guard("g", `(when (search "push" (getf (getf event :arguments) :command)) '(:refuse "no"))`),
		"script": script(":hook before-tool :tool exec", "grep -q push && exit 2; exit 0"),
	} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "g.org"), []byte(note), 0o644); err != nil {
				b.Fatal(err)
			}
			notes := skill.New(skill.Config{Home: dir})
			notes.Load(b.Context())
			hooks := hook.New(hook.Config{Skills: notes.Current, Kind: fence, Home: "/home/nobody"})
			x, _ := action.Read(`(:type :request :target :tool :payload (:action :call :tool "exec" :args (:command "git status")))`)
			fence()
			for b.Loop() {
				for _, d := range hooks.Before(b.Context(), x.Action(), where) {
					if d.Kind != policy.Allow {
						b.Fatal(d.Reason)
					}
				}
			}
		})
	}
}
