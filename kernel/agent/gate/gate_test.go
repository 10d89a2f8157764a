package gate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chewxy/sexp"

	"org-agent/kernel/act"
	"org-agent/kernel/action"
	"org-agent/kernel/agent/gate"
	"org-agent/kernel/agent/scripttest"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
	"org-agent/kernel/tool"
)

var update = flag.Bool("update", false, "write what happens into the scripts")

// TestScripts takes the actions of each script in testdata through a gate with the real policy and
// kinds, and compares the events, in their order, with those of the script.
//
// A script has the files "script" and "want", and the file "skill" if a skill checks: it is the body of
// a symbolic function (action context). A line of the script is one of
//
//	pass PLIST, do PLIST      an action goes through the gate
//	decided PLIST             an action that waited goes through, with the next decision
//	person WORD [TEXT]        the next decision: allow, deny REASON, edit PLIST, stop
//	hook WORD [TEXT]          a hook: refuse REASON, ask REASON, append TEXT, result TEXT, none
//	beyond REASON             the next actions are outside the turn's restrictions
//	limit WORD                used-up: the turn may only answer; time: its time is used up
//	journal off               from here on the journal cannot be written
func TestScripts(t *testing.T) {
	scripttest.Run(t, *update, func(t *testing.T, files map[string]string) string {
		s := newStage(t, files["skill"])
		for _, line := range scripttest.Lines(files["script"]) {
			s.say("> %s", line)
			s.play(line)
		}
		return s.happened.String()
	})
}

// stage has everything that a gate works with, and records the events.
type stage struct {
	t         *testing.T
	gate      *gate.Gate
	policy    *policy.Policy
	tools     *tool.Registry
	happened  bytes.Buffer
	orders    int
	decisions []string
	beyond    string
	limit     string
	broken    bool // the journal
	hook      string
	kinds     *kind.Set

	mu        sync.Mutex
	performed []string // the calls of tools in the order that is being performed
}

func newStage(t *testing.T, symbolic string) *stage {
	t.Helper()
	s := &stage{t: t}
	s.tools = s.registry()
	s.kinds = kind.New(act.Kinds(act.Deps{Conversations: s, Catalog: s.tools})...)
	s.policy = &policy.Policy{Home: t.TempDir(), Kinds: s.kinds, Tools: s.tools, Hooks: s}
	s.gate = &gate.Gate{
		Policy: s.policy, Judge: s.policy, Kinds: s.kinds, Performer: s, Hooks: s, Person: s, Acts: s, Rows: s, Turn: s, Orders: s, Limits: s, Screen: s,
		Restriction: func(action.Action) string { return s.beyond },
		Hide:        func(x sexp.Sexp) sexp.Sexp { return x },
		Log:         slog.New(slog.DiscardHandler),
	}
	if symbolic != "" {
		text := "#+begin_src lisp\n(defun check (action context) (declare (ignorable action context)) " + symbolic +
			")\n(defskill :guard :trigger (lambda (c) t) :neuro (lambda (c) nil) :symbolic #'check)\n#+end_src\n"
		note, err := skill.LoadNote(t.Context(), "guard.org", []byte(text), skill.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.gate.Skill, s.gate.SkillName = note.Skills()[0], "guard"
	}
	return s
}

// registry returns tools that read, change something, and fail.
func (s *stage) registry() *tool.Registry {
	type arguments struct {
		What string `doc:"what it is about"`
	}
	one := func(name string, effect protocol.ToolEffect, reach func(context.Context, *tool.Caller, *arguments) ([]protocol.Reach, error), err error) tool.Tool {
		return tool.New(tool.Definition[arguments]{
			Name: name, Manual: "# It\n\nDoes it.\n", Effect: effect, Reach: reach,
			Perform: func(_ context.Context, _ *tool.Caller, a arguments) (string, error) {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.performed = append(s.performed, name+" "+a.What)
				return "done: " + a.What, err
			},
		})
	}
	nothing := func(context.Context, *tool.Caller, *arguments) ([]protocol.Reach, error) {
		return []protocol.Reach{}, nil
	}
	tools, err := tool.NewRegistry(
		one("look", protocol.ToolReads, nothing, nil),
		one("change", "", nil, nil),
		one("fail", protocol.ToolReads, nothing, protocol.ToolErrorf(protocol.ToolNotFound, "there is no such thing")),
		one("question", protocol.ToolReads, nothing, tool.Declined{Reason: "not now"}),
		one("wait", protocol.ToolReads, nothing, gate.StillWaitingError{Cause: errors.New("the kernel ends")}),
		one("vanish", protocol.ToolReads, nothing, fmt.Errorf("no receipt: %w", kind.ErrOutcomeUnknown)),
	)
	if err != nil {
		s.t.Fatal(err)
	}
	return tools
}

func (s *stage) say(format string, arguments ...any) {
	s.happened.WriteString(strings.TrimRight(fmt.Sprintf(format, arguments...), " ") + "\n")
}

// play plays a line of the script.
func (s *stage) play(line string) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "pass":
		result, err := s.gate.Pass(s.t.Context(), s.usable(rest))
		s.sayResult(result, err)
	case "do":
		result, err := s.gate.Do(s.t.Context(), s.usable(rest).Action())
		s.sayResult(result, err)
	case "decided":
		a := s.usable(rest).Action()
		decision, err := s.decide()
		if err != nil {
			s.t.Fatal(err)
		}
		result, err := s.gate.ApplyDecision(s.t.Context(), a, s.policy.Judge(s.t.Context(), a, s.Where()).Action.Hash(), decision)
		s.sayResult(result, err)
	case "person":
		s.decisions = append(s.decisions, rest)
	case "hook":
		s.hook = rest
	case "beyond":
		s.beyond = rest
	case "limit":
		s.limit = rest
	case "journal":
		s.broken = rest == "off"
	default:
		s.t.Fatalf("%q is no line of a script", line)
	}
}

func (s *stage) usable(text string) action.Proposed {
	s.t.Helper()
	proposed, err := action.Read(text)
	if err == nil {
		proposed, err = s.policy.Usable(proposed)
	}
	if err != nil {
		s.t.Fatalf("%s: %v", text, err)
	}
	return proposed
}

func (s *stage) sayResult(result gate.Result, err error) {
	step := result.Step
	switch {
	case err != nil:
		s.say("the turn ends without an answer: %v", err)
		return
	case result.Ended:
		s.say("the turn has ended")
		return
	}
	s.say("step: %s %q of %s", step.Verdict, step.Text, step.Action.Canonical())
	for _, c := range step.Calls {
		s.say("  call: %s %q failed %t", c.Tool, c.Text, c.Failed)
	}
	for _, h := range step.Hooks {
		s.say("  hook %s adds %q", h.Hook, h.Text)
	}
	if step.Failure.Code != "" {
		s.say("  code %s", step.Failure.Code)
	}
	if step.Repeatable {
		s.say("  it may be done twice")
	}
}

// decide returns the next decision of the script.
func (s *stage) decide() (gate.Decision, error) {
	if len(s.decisions) == 0 {
		s.t.Fatal("the script has no decision of a person for this")
	}
	word, rest, _ := strings.Cut(s.decisions[0], " ")
	s.decisions = s.decisions[1:]
	switch word {
	case "allow":
		return gate.Decision{}, nil
	case "deny":
		return gate.Decision{Denied: true, Reason: rest}, nil
	case "edit":
		return gate.Decision{Edited: s.usable(rest)}, nil
	case "stop":
		return gate.Decision{}, errors.New("the turn was stopped")
	}
	s.t.Fatalf("%q is no decision", word)
	return gate.Decision{}, nil
}

func (s *stage) Decide(_ context.Context, verdict policy.Verdict, hash string) (gate.Decision, error) {
	if hash != verdict.Action.Hash() {
		s.t.Errorf("a person is asked about another action than %s", verdict.Action.Canonical())
	}
	s.say("a person is asked: %s", verdict.Reason)
	return s.decide()
}

func (s *stage) Before(_ context.Context, _ action.Action, _ policy.Where) []policy.Decision {
	word, rest, _ := strings.Cut(s.hook, " ")
	d := policy.Decision{Hook: "watch", Kind: policy.Allow}
	switch word {
	case "refuse":
		d.Kind, d.Reason = policy.Refuse, rest
	case "ask":
		d.Kind, d.Reason = policy.Ask, rest
	case "append":
		d.Append = rest
	default:
		return nil
	}
	return []policy.Decision{d}
}

func (s *stage) Result(_ context.Context, _ policy.Verified, result kind.Result, err error) (kind.Result, []journal.StepHook, error) {
	word, rest, _ := strings.Cut(s.hook, " ")
	if word != "result" || err != nil {
		return result, nil, err
	}
	result.Text = rest
	return result, []journal.StepHook{{Hook: "watch", Text: "it withheld what was there"}}, nil
}

func (s *stage) put(how string, what string) error {
	if s.broken {
		return errors.New("the disk is full")
	}
	s.say("journal%s: %s", how, what)
	return nil
}

func (s *stage) PutAct(_ context.Context, a journal.Act) error {
	return s.put("", "act "+a.ID+" "+a.Action)
}

func (s *stage) PutActDeferred(_ context.Context, a journal.Act) error {
	return s.put(" later", "act "+a.ID+" "+a.Action)
}

func (s *stage) PutReceipt(_ context.Context, id string, _ journal.Receipt) error {
	return s.put("", "receipt of "+id)
}

func (s *stage) Record(_ context.Context, kind journal.Kind, data any) {
	raw, err := json.Marshal(data)
	if err != nil {
		s.t.Fatal(err)
	}
	var row map[string]any
	if err := json.Unmarshal(raw, &row); err != nil {
		s.t.Fatal(err)
	}
	if hash, ok := row["hash"].(string); ok && hash != "" {
		row["hash"] = "HASH"
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(row); err != nil {
		s.t.Fatal(err)
	}
	s.say("row %s %s", kind, strings.TrimSpace(out.String()))
}

func (s *stage) RecordLater(_ context.Context, kind journal.Kind, id string, data any) {
	receipt, ok := data.(journal.Receipt)
	if !ok {
		s.t.Errorf("a row of %T", data)
	}
	s.say("row %s of %s %s", kind, id, receipt.Failure)
}

func (s *stage) Check(ctx context.Context, order kind.Order, a action.Action) error {
	return s.kinds.Check(ctx, order, a)
}

// Perform performs the order. The calls of a batch are made at once, so their order is undefined.
func (s *stage) Perform(ctx context.Context, order kind.Order) (kind.Result, error) {
	s.performed = nil
	result, err := s.kinds.Perform(ctx, order)
	slices.Sort(s.performed)
	for _, call := range s.performed {
		s.say("performs %s", call)
	}
	return result, err
}

func (s *stage) Event() sexp.List { return sexp.List{} }

func (s *stage) Where() policy.Where {
	return policy.Where{Session: "main", Turn: "turn", Route: protocol.LocalRoute(protocol.ChannelEmacs), Tools: s.tools}
}

func (s *stage) Order() kind.Order {
	s.orders++
	return kind.Order{ID: fmt.Sprintf("act-%d", s.orders), Session: "main", Turn: "turn", Event: "event", Tools: s.tools}
}

func (s *stage) AnswerOrder() kind.Order {
	return kind.Order{ID: "answer", Session: "main", Turn: "turn", Event: "event"}
}

func (s *stage) UsedUp() error {
	if s.limit == "used-up" {
		return errors.New("what this may take is used up")
	}
	return nil
}

func (s *stage) TimeIsUp(context.Context) bool { return s.limit == "time" }
func (s *stage) Pause()                        {}
func (s *stage) Retract()                      { s.say("what was shown is taken back") }
func (s *stage) ShowProgress()                 {}

// Insert implements the conversation of the turn.
func (s *stage) Insert(_ context.Context, _, turn, _, text string) error {
	s.say("conversation: %s %q", turn, text)
	return nil
}

func (s *stage) Post(_ context.Context, id, session, text string) error {
	s.say("conversation %s: %s %q", session, id, text)
	return nil
}
