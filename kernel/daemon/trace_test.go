package daemon_test

import (
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/rpc/rpctest"
)

// traceOf asks the kernel why.
func traceOf(t *testing.T, in *instance, id string) (protocol.TraceGetResult, error) {
	t.Helper()
	conn, err := rpc.Dial(within(t), rpc.DialConfig{Socket: in.paths.Socket, Token: in.token(t), Codec: rpc.Plist, Client: protocol.ClientInfo{Name: "test"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var result protocol.TraceGetResult
	err = conn.Call(within(t), protocol.MethodTraceGet, protocol.TraceGetParams{ID: id}, &result)
	return result, err
}

// wantInOrder checks that the text has the parts, one behind the other.
func wantInOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("%q is missing behind the part before it in\n%s", part, text)
		}
		rest = after
	}
}

// TestTraceTellsEverything: a turn that calls a tool, gives a reply that is
// no proposal and answers is told step by step, by whatever id one asks.
func TestTraceTellsEverything(t *testing.T) {
	in, _ := newInstanceAndModel(t,
		llmtest.Exchange{Reply: "<think>hm</think>\n```lisp\n(:type :REQUEST :target :tool :action :call :tool \"use_skill\" :args (:name \"garden\"))\n```"},
		llmtest.Exchange{Reply: `(:type :nonsense)`},
		llmtest.Exchange{Reply: insertion("* Roses\\nThey want water.")})
	in.write(t, "skills/garden/SKILL.md", promptSkill("garden", "", "# Roses\nWater them.\n"))
	in.write(t, "skills/other.org", "#+begin_src lisp\n(defskill :other :priority 3 :trigger (lambda (c) (eq :chat-message (getf (getf c :payload) :sensor))) :neuro (lambda (c) c nil))\n#+end_src\n")
	in.write(t, "skills/never.org", "#+begin_src lisp\n(defskill :never :priority 4 :trigger (lambda (c) c nil) :neuro (lambda (c) c nil))\n#+end_src\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	got := ask(t, e, "q1", "What about the *garden*?")
	told, err := traceOf(t, in, "q1")
	if err != nil {
		t.Fatal(err)
	}
	if told.Kind != "question" || told.Turn != got.turn || told.State != protocol.TurnAnswered {
		t.Errorf("told of %+v", told)
	}
	if ok, why := org.IsInert(told.Outline); !ok {
		t.Error(why)
	}
	wantInOrder(t, told.Outline,
		"* Answered: What about the *garden*?\n", "- You asked about :: the question q1\n",
		"Event: chat-message\n", "- Came from :: emacs\n",
		"Skill chat, priority 50\n", "- Would have answered :: other@", ", priority 3: its trigger was true as well\n",
		"Model asked, request 1: 1 message", "System prompt, ", "** Message 1, user, ", "\nWhat about the *garden*?\n",
		"Model replied: ", ", stop\n", "- Took :: ", "Proposal, read by think, fence\n",
		"Verdict of the skill: same", "Verdict of the policy: allow\n", "- Rule :: the tool only reads",
		"Action performed\n", "Receipt of ",
		"Model asked, request 2", " result of ", "Water them.",
		"Reply without a usable proposal\n", "- Cannot be used :: ",
		"Model asked, request 3", "Answer put into the conversation\n", "Roses", "Turn answered\n")
	if strings.Contains(told.Outline, "never@") {
		t.Error("a skill whose trigger is false is a rival")
	}
	for _, id := range []string{got.turn, got.turn[:8], "q"} {
		if again, err := traceOf(t, in, id); err != nil || again.Turn != got.turn {
			t.Errorf("%s: %+v, %v", id, again, err)
		}
	}
	if _, err := traceOf(t, in, "nothing"); protocol.ErrorCode(err) != protocol.CodeNotFound {
		t.Errorf("of nothing: %v", err)
	}
}

// TestTraceOfWhatHoldsAReply: what bound the reply of a model is told: the functions that it was offered, or a schema.
func TestTraceOfWhatHoldsAReply(t *testing.T) {
	for dialect, want := range map[string][]string{
		":DIALECT: native\n":                             {"Model asked, request 1", "- Functions offered :: ", "use_skill"},
		":DIALECT: constrained\n:GRAMMAR: json_schema\n": {"Model asked, request 1", "- The reply is held to :: a JSON Schema"},
	} {
		in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: `{"reply":"Well."}`, Times: -1})
		in.write(t, "skills/garden/SKILL.md", promptSkill("garden", "", "# Roses\nWater them.\n"))
		in.write(t, "config.org", strings.Replace(native(model), ":DIALECT: native\n", dialect, 1))
		delete(in.variables, "ORG_AGENT_LLM")
		in.start(t)
		got := ask(t, in.editor(t, rpctest.Config{}), "q1", "hello")
		told, err := traceOf(t, in, got.turn)
		if err != nil {
			t.Fatal(err)
		}
		wantInOrder(t, told.Outline, want...)
	}
}

// TestTraceOfRewriting: what a symbolic function made of a proposal stands there both
// before and after, and why it refused.
func TestTraceOfRewriting(t *testing.T) {
	for function, want := range map[string][]string{
		`(lambda (action context) context (list :type :response :text "tamed"))`:   {"Verdict of the skill: rewritten\n", "** Before, 30 bytes\n", "(:type :response :text \"wild\")\n", "** After, 31 bytes\n", "(:type :response :text \"tamed\")\n", "Verdict of the policy: allow\n"},
		`(lambda (action context) context nil)`:                                    {"Verdict of the skill: refused\n", "- Reason :: its symbolic function returned nil\n", "Turn failed\n", "- Notice :: the answer was refused"},
		`(lambda (action context) context (error "no ~a" (getf action :nothing)))`: {"Verdict of the skill: error\n", "- Error :: ", "Turn failed\n"},
	} {
		t.Run(function, func(t *testing.T) {
			in := newInstance(t)
			in.write(t, "skills/tame.org", fmt.Sprintf("#+begin_src lisp\n(defskill :tame :priority 90 :trigger (lambda (c) (eq :chat-message (getf (getf c :payload) :sensor)))\n :neuro (lambda (c) c (list :type :response :text \"wild\"))\n :symbolic %s)\n#+end_src\n", function))
			in.start(t)
			e := in.editor(t, rpctest.Config{})
			got := ask(t, e, "q1", "hello")
			told, err := traceOf(t, in, got.turn)
			if err != nil {
				t.Fatal(err)
			}
			wantInOrder(t, told.Outline, append([]string{"Skill tame, priority 90\n", "- Note :: [[file:" + in.paths.Skills + "/tame.org::2][tame.org:2]]\n", "Proposal of the skill, without a model\n"}, want...)...)
		})
	}
}
