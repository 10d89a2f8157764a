package loop_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chewxy/sexp"

	"org-agent/kernel/act"
	"org-agent/kernel/action"
	"org-agent/kernel/agent/gate"
	"org-agent/kernel/agent/loop"
	"org-agent/kernel/agent/scripttest"
	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/llm"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
	"org-agent/kernel/skill"
	"org-agent/kernel/tool"
)

var update = flag.Bool("update", false, "write what happens into the scripts")

// TestScripts answers the turn of each script in testdata, with the real gate, policy and kinds, and
// compares the events, in their order, with those of the script. Time is that of a synctest bubble, in
// which a reply takes a second.
//
// The file "skill" of a script is the body of a neuro function (context). Without it the skill asks the
// model. A line of the file "script" is one of
//
//	route none|peer          the route of the turn, instead of a person's Emacs
//	limit NAME VALUE         a limit of the budget: rounds, tokens or time
//	reply TEXT               the next reply of the model
//	long TEXT                a reply that was cut at the model's limit
//	fault TEXT               the model fails before a reply, or
//	break TEXT               amid a reply, after this text
//	meanwhile TEXT           the person says this before the next request
//	tokens N                 the usage of each reply from here on
//	beside N                 the usage of other turns of the question
func TestScripts(t *testing.T) {
	scripttest.Run(t, *update, func(t *testing.T, files map[string]string) (happened string) {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, cmp.Or(files["skill"], `(ask-neuro "What is to be done?")`))
			for _, line := range scripttest.Lines(files["script"]) {
				s.read(line)
			}
			s.run()
			happened = s.happened.String()
		})
		return happened
	})
}

// reply is one reaction of the model to a request.
type reply struct{ how, text string }

// stage has everything that a loop works with, and records the events.
type stage struct {
	t         *testing.T
	tools     *tool.Registry
	kinds     *kind.Set
	policy    *countingPolicy
	skill     *skill.Skill
	route     protocol.Route
	limits    config.Budget
	replies   []reply
	meanwhile map[int][]string // before the request of that number
	tokens    map[int]int      // of each reply from that one on
	beside    int

	judged   int // times a kind judged an action
	meter    *loop.Meter
	steps    *loop.Steps
	orders   int
	requests int
	happened bytes.Buffer
}

func newStage(t *testing.T, neuro string) *stage {
	t.Helper()
	s := &stage{t: t, route: protocol.LocalRoute(protocol.ChannelEmacs), limits: config.Budget{Rounds: 20}, meanwhile: map[int][]string{}, tokens: map[int]int{}}
	s.tools = s.registry()
	s.kinds = kind.New(s.counted(act.Kinds(act.Deps{Conversations: s, Catalog: s.tools, Logger: slog.New(slog.DiscardHandler)}))...)
	s.policy = &countingPolicy{Policy: &policy.Policy{Home: t.TempDir(), Kinds: s.kinds, Tools: s.tools}}
	text := "#+begin_src lisp\n(defskill :guide :trigger (lambda (c) t) :neuro (lambda (context) (declare (ignorable context)) " + neuro + "))\n#+end_src\n"
	note, err := skill.LoadNote(t.Context(), "guide.org", []byte(text), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.skill = note.Skills()[0]
	return s
}

// counted returns the kinds, and counts their judgements.
func (s *stage) counted(kinds []kind.Kind) []kind.Kind {
	for i := range kinds {
		judge := kinds[i].Judge
		if judge == nil {
			continue
		}
		kinds[i].Judge = func(ctx context.Context, turn *policy.Turn, a action.Action) policy.Verdict {
			s.judged++
			return judge(ctx, turn, a)
		}
	}
	return kinds
}

// countingPolicy counts the calls of a policy.
type countingPolicy struct {
	*policy.Policy
	usable, verified int
}

func (p *countingPolicy) Usable(proposed action.Proposed) (action.Proposed, error) {
	p.usable++
	return p.Policy.Usable(proposed)
}

func (p *countingPolicy) Verify(ctx context.Context, a action.Action, where policy.Where) (policy.Verified, policy.Verdict, error) {
	p.verified++
	return p.Policy.Verify(ctx, a, where)
}

// TestAnswerIsCheckedOnce: a plain answer is checked once for usability and judged once, whether the model
// writes prose or an action. The same holds for a call of a tool before it.
func TestAnswerIsCheckedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		replies []string
		checks  int
	}{
		"prose":        {[]string{"* Hello"}, 1},
		"an action":    {[]string{`(:type :response :text "* Hello")`}, 1},
		"an insertion": {[]string{`(:type :request :target :emacs :action :insert-at-end :text "* Hello")`}, 1},
		"after a call": {[]string{`(:type :request :target :tool :action :call :tool "look" :args (:what "x"))`, "* Hello"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, `(ask-neuro "What is to be done?")`)
			for _, text := range c.replies {
				s.read("reply " + text)
			}
			s.run()
			if !strings.Contains(s.happened.String(), `conversation: "* Hello"`) {
				t.Fatalf("there is no answer:\n%s", s.happened.String())
			}
			if s.policy.usable != c.checks || s.policy.verified != c.checks || s.judged != c.checks {
				t.Errorf("%d replies were checked %d times, verified %d times and judged %d times", c.checks, s.policy.usable, s.policy.verified, s.judged)
			}
		})
	}
}

// registry returns three tools that read: one returns its argument, one fails, one takes ten minutes.
func (s *stage) registry() *tool.Registry {
	type arguments struct {
		What string `doc:"what it is about"`
	}
	one := func(name string, effect protocol.ToolEffect, perform func(context.Context, string) (string, error)) tool.Tool {
		definition := tool.Definition[arguments]{
			Name: name, Manual: "# It\n\nDoes it.\n", Effect: effect,
			Perform: func(ctx context.Context, _ *tool.Caller, a arguments) (string, error) { return perform(ctx, a.What) },
		}
		if effect == protocol.ToolReads {
			definition.Reach = func(context.Context, *tool.Caller, *arguments) ([]protocol.Reach, error) {
				return []protocol.Reach{}, nil
			}
		}
		return tool.New(definition)
	}
	tools, err := tool.NewRegistry(
		one("look", protocol.ToolReads, func(_ context.Context, what string) (string, error) { return "seen: " + what, nil }),
		one("fail", protocol.ToolReads, func(context.Context, string) (string, error) { return "", errors.New("it is broken") }),
		one("change", "", func(_ context.Context, what string) (string, error) { return "changed " + what, nil }),
		one("wait", protocol.ToolReads, func(ctx context.Context, _ string) (string, error) {
			select {
			case <-time.After(10 * time.Minute):
				return "waited", nil
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		}),
	)
	if err != nil {
		s.t.Fatal(err)
	}
	return tools
}

func (s *stage) say(format string, arguments ...any) {
	s.happened.WriteString(strings.TrimRight(fmt.Sprintf(format, arguments...), " ") + "\n")
}

// read reads a line of the script.
func (s *stage) read(line string) {
	word, rest, _ := strings.Cut(line, " ")
	number := func(text string) int {
		n, err := strconv.Atoi(text)
		if err != nil {
			s.t.Fatal(err)
		}
		return n
	}
	switch word {
	case "route":
		s.route = protocol.Route{Kind: map[string]protocol.RouteKind{"none": protocol.RouteNone, "peer": protocol.RoutePeer}[rest]}
	case "limit":
		name, value, _ := strings.Cut(rest, " ")
		if err := s.limits.Set("BUDGET_"+strings.ToUpper(name), value); err != nil {
			s.t.Fatal(err)
		}
	case "reply", "long", "fault", "break":
		s.replies = append(s.replies, reply{word, rest})
	case "meanwhile":
		s.meanwhile[len(s.replies)] = append(s.meanwhile[len(s.replies)], rest)
	case "tokens":
		s.tokens[len(s.replies)] = number(rest)
	case "beside":
		s.beside = number(rest)
	default:
		s.t.Fatalf("%q is no line of a script", line)
	}
}

// run answers the turn.
func (s *stage) run() {
	log := slog.New(slog.DiscardHandler)
	s.meter = &loop.Meter{Budget: loop.NewBudget(s.limits), Turn: "turn", Event: "event", Question: "turn", HasSubagents: s.beside > 0, UsageStore: s, Screen: s, Log: log}
	s.steps = &loop.Steps{Question: sexp.List{plist.Keyword("type"), plist.Keyword("event")}, Trail: s, Rows: s, Kinds: s.kinds, Meter: s.meter, Exchange: s, Log: log}
	hide := func(x sexp.Sexp) sexp.Sexp { return x }
	g := &gate.Gate{
		Policy: s.policy, Judge: s.policy, Kinds: s.kinds, Performer: s.kinds, Skill: s.skill, SkillName: "guide", Hooks: s, Person: s, Acts: s, Rows: silent{},
		Turn: s, Orders: s, Limits: &s.meter.Budget, Screen: s, Restriction: func(action.Action) string { return "" }, Hide: hide, Log: log,
	}
	l := &loop.Loop{
		Skill: s.skill, SkillName: "guide", Asker: func() loop.Asker { return &asker{stage: s} }, Gate: g, Policy: s.policy, Kinds: s.kinds, Rows: s,
		Steps: s.steps, Budget: &s.meter.Budget, Turn: s, Where: s.Where, Hide: func(text string) string { return text }, HideIn: hide, Log: log,
		ReplyAction: func(text string) action.Proposed { return s.kinds.Specs().Answer(s.route, text) },
	}
	err := l.Run(s.t.Context())
	ended, is := errors.AsType[loop.EndError](err)
	switch {
	case is:
		s.say("the turn ends without an answer, %s: %s", ended.State, ended.Notice)
	case err != nil:
		s.say("the turn ends without an answer: %v", err)
	default:
		s.say("the turn has ended")
	}
	if notice := l.Notice() + s.meter.Budget.StopNotice(); notice != "" {
		s.say("notice: %s", notice)
	}
	if l.Partial() {
		s.say("what is there of the answer is shown")
	}
}

// asker is the model of the script.
type asker struct {
	stage *stage
	last  loop.RequestOutcome
}

func (a *asker) Ask(ctx context.Context, _ skill.Ask) (string, error) {
	if err := a.stage.steps.Steer(ctx); err != nil {
		return "", err
	}
	return a.send(ctx, "")
}

func (a *asker) Retry(ctx context.Context, _, reason string) (string, error) {
	return a.send(ctx, " again: "+reason)
}

func (a *asker) send(ctx context.Context, how string) (string, error) {
	s := a.stage
	a.last = loop.RequestOutcome{}
	if a.last.Fault = s.meter.Allows(ctx); a.last.Fault != nil {
		return "", a.last.Fault
	}
	s.say("the model is asked%s", how)
	if len(s.replies) == 0 {
		s.t.Error("the script has no reply to this")
		s.replies = []reply{{"fault", "the script has no more replies"}}
	}
	next := s.replies[0]
	s.replies = s.replies[1:]
	time.Sleep(time.Second)
	tokens, found := s.tokens[s.requests]
	s.requests++
	if _, changed := s.tokens[s.requests]; found && !changed {
		s.tokens[s.requests] = tokens
	}
	s.meter.Count(ctx, loop.RequestUsage{Estimate: tokens, Duration: time.Second}, journal.ReplyUsage{})
	text := strings.ReplaceAll(next.text, `\n`, "\n")
	switch next.how {
	case "fault":
		a.last.Fault, text = errors.New(text), ""
	case "break":
		a.last.Fault, a.last.Partial = errors.New("the connection was lost"), text
	case "long":
		a.last.Finish = llm.FinishLength
	default:
		a.last.Finish = llm.FinishStop
	}
	return text, a.last.Fault
}

func (a *asker) Outcome() loop.RequestOutcome { return a.last }

// silent discards the rows of the gate.
type silent struct{}

func (silent) Record(context.Context, journal.Kind, any)              {}
func (silent) RecordLater(context.Context, journal.Kind, string, any) {}

func (s *stage) row(when string, kind journal.Kind, data any) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(data); err != nil {
		s.t.Fatal(err)
	}
	s.say("row %s%s %s", kind, when, strings.TrimSpace(out.String()))
}

func (s *stage) Record(_ context.Context, kind journal.Kind, data any) { s.row("", kind, data) }

func (s *stage) RecordLater(_ context.Context, kind journal.Kind, _ string, data any) {
	s.row(" later", kind, data)
}

func (s *stage) RecordNow(_ context.Context, kind journal.Kind, _ string, data any) int64 {
	s.row("", kind, data)
	return 1
}

func (s *stage) Add(...journal.ToolStep) {}

func (s *stage) AnswerID() string { return "answer" }

func (s *stage) AddCommentary(text string) { s.say("commentary %s", text) }

func (s *stage) AddCall(call session.Call) {
	s.say("the answer shows: %s %s %q after %v", call.Line, call.Verdict, call.Result, call.Duration)
}

func (s *stage) NewSteers(context.Context) ([]string, error) {
	texts := s.meanwhile[s.requests]
	delete(s.meanwhile, s.requests)
	return texts, nil
}

func (s *stage) PutReplyUsage(context.Context, journal.ReplyUsage) error         { return nil }
func (s *stage) PutReplyUsageDeferred(context.Context, journal.ReplyUsage) error { return nil }

func (s *stage) UsageOutsideTurn(context.Context, string, string) (journal.BudgetUse, error) {
	return journal.BudgetUse{Tokens: s.beside}, nil
}

func (s *stage) Progress(protocol.TurnProgress)                            {}
func (s *stage) SetUsage(llm.Usage, llm.Speed)                             {}
func (s *stage) ShowProgress()                                             {}
func (s *stage) Retract()                                                  {}
func (s *stage) SetIncomplete(state protocol.TurnState)                    { s.say("the answer is incomplete: %s", state) }
func (s *stage) SetStopReason(why string)                                  { s.say("the answer says: %s", why) }
func (s *stage) Event() sexp.List                                          { return s.steps.Event() }
func (s *stage) PutAct(context.Context, journal.Act) error                 { return nil }
func (s *stage) PutActDeferred(context.Context, journal.Act) error         { return nil }
func (s *stage) PutReceipt(context.Context, string, journal.Receipt) error { return nil }

func (s *stage) Decide(context.Context, policy.Verdict, string) (gate.Decision, error) {
	s.say("a person is asked, and refuses")
	return gate.Decision{Denied: true}, nil
}

func (s *stage) Result(_ context.Context, _ policy.Verified, result kind.Result, err error) (kind.Result, []journal.StepHook, error) {
	return result, nil, err
}

func (s *stage) Where() policy.Where {
	return policy.Where{Session: "main", Turn: "turn", Route: s.route, Tools: s.tools}
}

func (s *stage) Order() kind.Order {
	s.orders++
	return kind.Order{ID: fmt.Sprintf("act-%d", s.orders), Session: "main", Turn: "turn", Event: "event", Route: s.route, Tools: s.tools}
}

func (s *stage) AnswerOrder() kind.Order {
	order := s.Order()
	order.ID = "answer"
	return order
}

// Insert implements the conversation of the turn.
func (s *stage) Insert(_ context.Context, _, _, _, text string) error {
	s.say("conversation: %q", text)
	return nil
}

func (s *stage) Post(_ context.Context, _, session, text string) error {
	s.say("conversation %s: %q", session, text)
	return nil
}
