package daemon_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/act"
	"org-agent/kernel/action"
	"org-agent/kernel/kind"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/plist"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// titled are the headings of the sections of a prompt.
func titled(system string) string {
	var titles []string
	for _, title := range prompt.Parse(system) {
		titles = append(titles, title.Title)
	}
	return strings.Join(titles, ", ")
}

// TestFormsAreWhatPasses: a model is told of the forms that the skill and the policy let
// through and that something performs, and of no others.
func TestFormsAreWhatPasses(t *testing.T) {
	in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
	in.write(t, "skills/narrow.org", lisp(`(defun narrow (action c) (if (eq (getf action :type) :response) action (if (eq (getf action :type) :log) (list :type :log :text "other") nil)))
(defskill :narrow :priority 90 :trigger (lambda (c) (search "narrow" (getf (getf c :payload) :text))) :neuro (lambda (c) (ask-neuro "q")) :symbolic #'narrow)`))
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	ask(t, e, "q1", "hi")
	ask(t, e, "q2", "narrow")
	told, _ := systems(model)
	forms := func(system string) (texts []string) {
		for line := range strings.Lines(system) {
			if from := strings.Index(line, ": (:type "); strings.HasPrefix(line, "- to ") && from > 0 {
				value, err := plist.Read(strings.TrimSpace(line[from+2 : strings.LastIndex(line, ")")+1]))
				if err != nil {
					t.Errorf("%s: %v", line, err)
				}
				texts = append(texts, plist.Print(value))
			}
		}
		return texts
	}
	chat := forms(told[0])
	if len(chat) != 2 || !strings.Contains(chat[0], ":call") || !strings.Contains(chat[1], ":batch") || !strings.Contains(told[0], "To answer, write the answer") {
		t.Errorf("the chat is told %d forms: %q", len(chat), chat)
	}
	if narrow := forms(told[1]); len(narrow) != 1 || !strings.HasPrefix(narrow[0], "(:type :response") || strings.Contains(told[1], "To answer, write") {
		t.Errorf("what only lets :response through is told %q", narrow)
	}
}

// TestGrammarIsSent: a server that takes a grammar gets one, with the tools that are there, for
// replies that may be any action; another gets none.
func TestGrammarIsSent(t *testing.T) {
	in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
	for _, key := range []string{"ORG_AGENT_LLM_BASE_URL", "ORG_AGENT_LLM_MODEL", "ORG_AGENT_LLM_API_KEY"} {
		delete(in.variables, key)
	}
	heading := func(name, more string) string {
		return fmt.Sprintf("** %s\n:PROPERTIES:\n:BASE_URL: %s\n:MODEL: test-model\n%s:END:\n", name, model.URL(), more)
	}
	in.write(t, "config.org", "* Models\n"+heading("held", ":GRAMMAR: grammar\n")+heading("free", ""))
	in.write(t, "skills/silent.org", lisp(`(defskill :silent :priority 90 :trigger (lambda (c) (search "silent" (getf (getf c :payload) :text)))
  :neuro (lambda (c) (list :type :response :text (ask-neuro "q" :stream nil))))`))
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	ask(t, e, "q1", "hi")
	ask(t, e, "q2", "silent")
	if err := e.Call(within(t), protocol.MethodSessionModel, protocol.SessionModelParams{Session: "main", Model: "free"}, &protocol.SessionModelParams{}); err != nil {
		t.Fatal(err)
	}
	ask(t, e, "q3", "hi again")
	var grammars []string
	for _, request := range model.Requests() {
		var body struct{ Grammar string }
		if err := json.Unmarshal(request.Body, &body); err != nil {
			t.Fatal(err)
		}
		grammars = append(grammars, body.Grammar)
	}
	if len(grammars) != 3 || !strings.HasPrefix(grammars[0], "root ::= prose | form-1 | ") || !strings.Contains(grammars[0], `"\"ask_user\"" arguments-`) || grammars[1] != "" || grammars[2] != "" {
		t.Errorf("the grammars are %q", grammars)
	}
	if want := action.Grammar(kind.New(act.Kinds(act.Deps{})...).Specs().Forms(protocol.Route{Channel: "emacs"}), nil, true); !strings.HasSuffix(grammars[0], want[strings.Index(want, "text ::="):]) {
		t.Errorf("the grammar ends otherwise:\n%s", grammars[0])
	}
}

// TestHowMuchIsTold: all of it for a message, the short prompt where a skill has something done
// silently or a command is answered, and what the skill asks for; the skill's own part is in
// every one of them, and comes last.
func TestHowMuchIsTold(t *testing.T) {
	in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
	in.write(t, "IDENTITY.org", "- Name :: Sam\nDry.\n")
	in.write(t, "skills/modes.org", lisp(`(defun modes (c)
  (ask-neuro "silent" :system-prompt "OWN" :stream nil)
  (ask-neuro "none" :system-prompt "OWN" :prompt :none)
  (ask-neuro "minimal" :system-prompt "OWN" :prompt :minimal)
  (ask-neuro "usual" :system-prompt "OWN"))
(defskill :modes :priority 90 :trigger (lambda (c) (search "modes" (getf (getf c :payload) :text))) :neuro #'modes
  :commands (("modes" "tries them")))`))
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	ask(t, e, "q1", "modes")
	sendWith(t, e, message("q2", "/modes"))
	told, lasts := systems(model)
	want := map[string]string{
		"silent":  "Identity, What counts, Safety, Runtime, From skills, From the skill that answers",
		"none":    "Identity, What counts, Safety, From the skill that answers",
		"minimal": "Identity, What counts, Safety, Runtime, From skills, From the skill that answers",
		"usual":   "Identity, Persona, What counts, Workspace, Safety, Tools, How tools are called, What a reply is, Recalling, Subagents, The web, Runtime, From skills, From the skill that answers",
	}
	if len(told) != 8 {
		t.Fatalf("the model was asked %d times", len(told))
	}
	for i, system := range told {
		wanted := want[lasts[i]]
		if i > 3 && lasts[i] == "usual" {
			wanted = want["minimal"]
		}
		if got := titled(system); got != wanted {
			t.Errorf("%d. %s is told %s\nwant %s", i, lasts[i], got, wanted)
		}
		if !strings.HasSuffix(system, ":skill:\nOWN") || !strings.Contains(system, "You are Sam, ") {
			t.Errorf("%d. the prompt is\n%s", i, system)
		}
	}
}
