package agent_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"org-agent/kernel/act"
	"org-agent/kernel/action"
	"org-agent/kernel/agent"
	"org-agent/kernel/agent/complete"
	"org-agent/kernel/channel"
	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/dialect"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/llm/openai"
	"org-agent/kernel/llm/route"
	"org-agent/kernel/memory"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
	"org-agent/kernel/skill"
	"org-agent/kernel/tool"
)

var update = flag.Bool("update", false, "write the golden files anew")

// wireNotes are skills that ask in different ways.
const wireNotes = `#+begin_src lisp
(defun says (c word)
  (let ((p (getf c :payload)))
    (and (eq (getf p :sensor) :chat-message) (search word (getf p :text)))))
(defun text (c) (getf (getf c :payload) :text))
(defskill :plain :priority 50
  :trigger (lambda (c) (says c ""))
  :neuro (lambda (c) (ask-neuro (text c))))
(defskill :own :priority 60
  :trigger (lambda (c) (says c "own words"))
  :neuro (lambda (c) (ask-neuro (text c) :system-prompt "You are a gardener. Reply with (:type :response :text \"<your answer>\").")))
(defskill :quiet :priority 60
  :trigger (lambda (c) (says c "sort this"))
  :neuro (lambda (c)
    (list :type :response :text (ask-neuro (text c) :system-prompt "Say one word." :stream nil :history nil :tools nil))))
#+end_src
`

// wire is an agent in a conversation with a model server. What the server is sent is compared
// with golden files, byte by byte.
type wire struct {
	t        *testing.T
	h        *household
	agent    *agent.Agent
	sessions *session.Sessions
	talk     *conversation
	ended    chan journal.Turn
	server   *llmtest.Server
	judged   atomic.Int32 // times that a kind judged an action
	more     []tool.Tool  // beside those of every conversation here
	seen     int          // requests that were compared
	turns    int
}

// newWire returns an agent whose model says one thing after the other.
func newWire(t *testing.T, window int, says ...string) *wire {
	t.Helper()
	return newWireWith(t, window, nil, says...)
}

// newWireWith is newWire with more tools.
func newWireWith(t *testing.T, window int, more []tool.Tool, says ...string) *wire {
	t.Helper()
	w := &wire{t: t, h: newHouse(t, false), ended: make(chan journal.Turn, 9), more: more}
	var exchanges []llmtest.Exchange
	for _, reply := range says {
		exchanges = append(exchanges, llmtest.Exchange{Reply: reply})
	}
	w.server = llmtest.Start(t, exchanges...)
	log := slog.New(slog.DiscardHandler)
	c := &w.h.config
	c.Sources.Tools, c.Sources.Prompts, c.Index = w.tools(), nil, nil
	c.Persona = func(string) (memory.Persona, error) { return memory.Persona{}, nil }
	home := t.TempDir()
	w.h.must(os.MkdirAll(filepath.Join(home, "skills"), 0o755))
	w.h.must(os.WriteFile(filepath.Join(home, "skills", "wire.org"), []byte(wireNotes), 0o644))
	c.Sources.Skills = skill.New(skill.Config{Home: filepath.Join(home, "skills"), Logger: log})
	for _, s := range c.Sources.Skills.Load(t.Context()) {
		if s.Skill == "" {
			t.Fatalf("%+v", s)
		}
	}
	env := map[string]string{"ORG_AGENT_LLM_BASE_URL": w.server.URL(), "ORG_AGENT_LLM_MODEL": "test-model"}
	models, err := route.New(t.Context(), route.Config{
		Drivers: llm.Drivers{openai.Driver()}, Dialects: dialect.All(), Settings: config.Parse("config.org", ""), Env: func(name string) string { return env[name] },
		Consent: filepath.Join(t.TempDir(), "consent"), Logger: log,
	})
	w.h.must(err)
	c.Provider, c.Sources.Dialect = models, models.Dialect()
	c.Window = func(context.Context, string, bool) llm.Window { return llm.Window{Tokens: window} }
	ids := 0
	c.NewID = func() string { ids++; return fmt.Sprint("id-", ids) }
	talk := &conversation{}
	kinds := append(act.Kinds(act.Deps{Conversations: talk, Catalog: c.Sources.Tools, Logger: log}), channel.Known()...)
	for i := range kinds {
		if judge := kinds[i].Judge; judge != nil {
			kinds[i].Judge = func(ctx context.Context, turn *policy.Turn, a action.Action) policy.Verdict {
				w.judged.Add(1)
				return judge(ctx, turn, a)
			}
		}
	}
	set := kind.New(kinds...)
	c.Kinds = func() *kind.Set { return set }
	c.Policy = &policy.Policy{Home: w.h.home, Tools: c.Sources.Tools, Kinds: set}
	w.talk = talk
	w.serve(*c)
	return w
}

// serve has an agent answer in place of the one before.
func (w *wire) serve(c agent.Config) {
	w.agent = agent.New(c)
	w.sessions = session.New(session.Config{
		Journal: conversationJournal(w.h.journal), Runner: w.agent, NewID: c.NewID, Logger: c.Sources.Logger, Now: c.Now, InsertionAct: act.Insertion,
		OnTurnEnd: func(turn journal.Turn) { w.ended <- turn },
	})
	w.talk.Sessions = w.sessions
	w.t.Cleanup(w.sessions.Close)
}

// sent checks that the body of a request has each of the texts.
func (w *wire) sent(request int, texts ...string) {
	w.t.Helper()
	body := string(w.server.Requests()[request].Body)
	for _, text := range texts {
		if !strings.Contains(body, text) {
			w.t.Errorf("request %d does not have %q:\n%s", request+1, text, body)
		}
	}
}

// tools are one that finds something, one that fails, and one that hears the person meanwhile.
func (w *wire) tools() *tool.Registry {
	type arguments struct {
		Query string `doc:"what is looked for" required:"true"`
	}
	made := func(name string, perform func(string) (string, error)) tool.Tool {
		return tool.New(tool.Definition[arguments]{
			Name: name, Manual: "# " + name + "\n\nDoes what " + name + " does.\n", Effect: protocol.ToolReads,
			Perform: func(_ context.Context, _ *tool.Caller, a arguments) (string, error) { return perform(a.Query) },
		})
	}
	all := []tool.Tool{
		made("look_up", func(query string) (string, error) { return "found \"" + query + "\"\nin C:\\notes", nil }),
		made("fail", func(string) (string, error) {
			return "", protocol.ToolErrorf(protocol.ToolNotFound, "there is nothing of that name")
		}),
		made("interrupted", func(query string) (string, error) {
			_, err := w.sessions.Steer(context.Background(), protocol.TurnSteerParams{ID: "steer", Session: "main", Text: "and be quick (:type :log)"})
			return "done with " + query, err
		}),
	}
	registry, err := tool.NewRegistry(append(all, w.more...)...)
	w.h.must(err)
	return registry
}

// ask has a message answered.
func (w *wire) ask(text string, items ...protocol.ContextItem) {
	w.t.Helper()
	w.turns++
	w.submit(protocol.Event{ID: fmt.Sprint("event-", w.turns), Session: "main", Sensor: protocol.SensorChatMessage,
		Route: protocol.LocalRoute(protocol.ChannelEmacs), Level: 1, Stamp: w.h.config.Now(), Text: text, Context: items})
}

func (w *wire) submit(event protocol.Event) {
	w.t.Helper()
	if _, err := w.sessions.Submit(w.t.Context(), event); err != nil {
		w.t.Fatal(err)
	}
	select {
	case turn := <-w.ended:
		if turn.State != protocol.TurnAnswered {
			w.t.Errorf("%q ended %s: %s", event.Text, turn.State, turn.Notice)
		}
	case <-time.After(time.Minute):
		w.t.Fatal("the turn does not end")
	}
}

// earlier puts a turn into the journal as it would have been: its steps as the data of rows.
func (w *wire) earlier(question, answer string, steps ...string) {
	w.t.Helper()
	w.turns++
	ctx, j := w.t.Context(), w.h.journal
	event, turn, id := fmt.Sprint("event-", w.turns), fmt.Sprint("turn-", w.turns), fmt.Sprint("answer-", w.turns)
	_, _, err := j.Turns.Accept(ctx, protocol.Event{ID: event, Session: "main", Sensor: protocol.SensorChatMessage, Level: 1, Stamp: w.h.config.Now(), Text: question}, turn)
	w.h.must(err)
	for _, step := range steps {
		_, err := j.Records.Append(ctx, journal.Entry{Kind: journal.KindToolStep, Session: "main", Turn: turn, ID: id, Data: []byte(step)})
		w.h.must(err)
	}
	w.h.must(j.Acts.PutAct(ctx, journal.Act{ID: id, Session: "main", Turn: turn, Event: event, Kind: journal.ActAnswer, Raw: answer, Final: true}))
	_, err = j.Turns.SetTurn(ctx, journal.TurnChange{ID: turn, State: protocol.TurnAnswered})
	w.h.must(err)
}

// earlierLong puts so many turns into the journal, each with the steps.
func (w *wire) earlierLong(turns int, steps ...string) {
	w.t.Helper()
	for i := range turns {
		w.earlier(fmt.Sprint("question ", i), fmt.Sprint("answer ", i), steps...)
	}
}

// golden compares what the server was sent since the last call with a golden file: a line for
// each message as it went over the wire, and one for the rest of the body. The system prompt stands
// only in files whose subject it is, so that a word changed in it changes few of them.
func (w *wire) golden(name string) {
	w.t.Helper()
	withSystem := slices.Contains([]string{"first", "own", "quiet", "subagent"}, name)
	var b bytes.Buffer
	for i, received := range w.server.Requests()[w.seen:] {
		var body map[string]json.RawMessage
		w.h.must(json.Unmarshal(received.Body, &body))
		var messages []json.RawMessage
		w.h.must(json.Unmarshal(body["messages"], &messages))
		delete(body, "messages")
		rest, err := json.Marshal(body)
		w.h.must(err)
		fmt.Fprintf(&b, "request %d %s\n", i+1, rest)
		for i, m := range messages {
			if i == 0 && !withSystem && bytes.HasPrefix(m, []byte(`{"role":"system"`)) {
				m = []byte("the system prompt")
			}
			b.Write(m)
			b.WriteByte('\n')
		}
	}
	w.seen = len(w.server.Requests())
	golden := filepath.Join("testdata", "wire", name+".jsonl")
	if *update {
		w.h.must(os.MkdirAll(filepath.Dir(golden), 0o755))
		w.h.must(os.WriteFile(golden, b.Bytes(), 0o644))
	}
	want, err := os.ReadFile(golden)
	w.h.must(err)
	got, wanted := strings.SplitAfter(b.String(), "\n"), strings.SplitAfter(string(want), "\n")
	for i := range max(len(got), len(wanted)) {
		g, e := "", ""
		if i < len(got) {
			g = got[i]
		}
		if i < len(wanted) {
			e = wanted[i]
		}
		if g != e {
			w.t.Errorf("%s:%d: is sent\n%s, not\n%s", golden, i+1, g, e)
		}
	}
}

func look(query string) string {
	return fmt.Sprintf("(:type :request :target :tool :action :call :tool \"look_up\" :args (:query %q))", query)
}

const wideWindow = 1_000_000

// TestWire holds what model servers are sent to the byte.
func TestWire(t *testing.T) {
	long := strings.Repeat("a line of a \\\"long\\\" result\\n", 300)
	call := `(:type :request :target :tool :payload (:action :call :tool \"look_up\" :args (:query \"x\")))`
	step := func(rest string) string { return `{"action":"` + call + `",` + rest + `}` }
	for name, run := range map[string]func(t *testing.T){
		"first": func(t *testing.T) {
			w := newWire(t, wideWindow, "* Hello")
			w.ask("Good \"morning\" – <b>ünïcode</b>")
			w.golden("first")
		},
		"calls": func(t *testing.T) {
			w := newWire(t, wideWindow, look("samovar"), "It is there.", "Yes.")
			w.ask("where is the samovar?")
			w.ask("are you sure?")
			w.golden("calls")
		},
		"batch": func(t *testing.T) {
			w := newWire(t, wideWindow, `(:type :request :target :tool :action :batch :calls ((:tool "look_up" :args (:query "a")) (:tool "fail" :args (:query "b"))))`, "Half of it.", "Yes.")
			w.ask("look for both")
			w.ask("and now?")
			w.golden("batch")
		},
		"errors": func(t *testing.T) {
			w := newWire(t, wideWindow, `(:type :request :target :tool :action :call :tool "fail" :args (:query "x"))`,
				`(:type :request :target :tool :action :call :tool "look_upp" :args (:query "x"))`, "There is nothing.")
			w.ask("look for x")
			w.golden("errors")
		},
		"again": func(t *testing.T) {
			w := newWire(t, wideWindow, `(:type :request :target :nowhere :action :fly)`, "I cannot fly.")
			w.ask("fly")
			w.golden("again")
		},
		"meanwhile": func(t *testing.T) {
			w := newWire(t, wideWindow, `(:type :request :target :tool :action :call :tool "interrupted" :args (:query "x"))`, "Done.", "Yes.")
			w.ask("take your time")
			w.ask("done?")
			w.golden("meanwhile")
		},
		"steps": func(t *testing.T) {
			w := newWire(t, wideWindow, "Yes.")
			w.earlier("every kind of step", "* Done",
				step(`"verdict":"performed","text":"fine","hooks":[{"hook":"after","text":"remember \"this\""}]`),
				`{"hooks":[{"hook":"start","text":"it is late"}]}`,
				`{"note":"Two calls were the same."}`,
				`{"said":"hurry up"}`,
				step(`"verdict":"failed","text":"no","code":"timeout","retryable":true,"note":"Do not repeat it."`),
				step(`"verdict":"refused","text":"no"`), step(`"verdict":"denied","text":"the user says no"`), step(`"verdict":"failed","text":"no"`),
				`{"action":"(:type :request :target :tool :payload (:action :batch :calls ((:tool \"look_up\") (:tool \"fail\"))))","verdict":"performed","text":"two","calls":[{"tool":"look_up","text":"a"},{"tool":"fail","text":"b","failed":true,"code":"not-found","retryable":true}]}`,
				step(`"verdict":"performed","text":"enough","note":"Answer now.","last":true`))
			w.earlier("nothing came of this", "")
			w.ask("and now?")
			w.golden("steps")
		},
		"shortened": func(t *testing.T) {
			w := newWire(t, 70_000, "Yes.")
			w.earlierLong(12, step(`"verdict":"performed","text":"`+long+`"`),
				`{"action":"(:type :request :target :tool :payload (:action :batch))","verdict":"performed","text":"two","calls":[{"tool":"look_up","text":"`+long+`"},{"tool":"fail","text":"b","failed":true}]}`)
			w.ask("and now?")
			w.golden("shortened")
		},
		"omitted": func(t *testing.T) {
			w := newWire(t, 20_000, "Yes.")
			w.earlierLong(12, step(`"verdict":"performed","text":"`+long+`"`),
				`{"action":"(:type :request :target :tool :payload (:action :batch))","verdict":"performed","text":"two","calls":[{"tool":"look_up","text":"`+long+`"},{"tool":"fail","text":"b","failed":true}]}`)
			w.ask("and now?")
			w.golden("omitted")
		},
		"summary": func(t *testing.T) {
			w := newWire(t, wideWindow, "* Facts\n- question 1 has an answer\n* Open\n- find the other", "Yes.")
			for i := range 9 {
				w.earlier(fmt.Sprint("question ", i, strings.Repeat(" of many words", 30)), fmt.Sprint("answer ", i), step(`"verdict":"performed","text":"found"`))
			}
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { defer close(done); w.agent.Compaction().Run(ctx) }()
			_, err := w.agent.Compaction().Now(ctx, "main")
			stop()
			<-done
			w.h.must(err)
			w.ask("and now?")
			w.golden("summary")
		},
		"attached": func(t *testing.T) {
			w := newWire(t, wideWindow, "A dot.", "Still a dot.")
			dot, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
			w.h.must(err)
			w.ask("what is this?",
				protocol.ContextItem{Kind: protocol.ContextImage, Name: "dot.png", Media: "image/png", Bytes: len(dot), Data: dot},
				protocol.ContextItem{Kind: "file", Name: "notes.org", Place: "/home/ann/notes.org:3", Mode: "org", Bytes: 21, Text: "* A (:type :log)\n--- b"})
			w.ask("and now?")
			w.golden("attached")
		},
		"own": func(t *testing.T) {
			w := newWire(t, wideWindow, "Hello.", `(:type :response :text "Roses.")`)
			w.ask("hello")
			w.ask("in your own words: what grows?")
			w.golden("own")
		},
		"quiet": func(t *testing.T) {
			w := newWire(t, wideWindow, "Hello.", "pear")
			w.ask("hello")
			w.ask("sort this: apple, pear")
			w.golden("quiet")
		},
		"subagent": func(t *testing.T) {
			w := newWire(t, wideWindow, look("a"), "It is in Samarkand.")
			w.subagent()
			w.golden("subagent")
		},
		"completion": func(t *testing.T) {
			w := newWire(t, wideWindow, " of tea")
			c := w.h.config
			completer := &complete.Completer{Provider: c.Provider, Policy: c.Policy, Usage: w.h.journal.Usage, Hide: w.agent.Hide, Logger: c.Sources.Logger}
			_, err := completer.Complete(t.Context(), protocol.CompleteParams{Name: "notes.org", Mode: "org-mode", Before: "* Tea\na cup", After: "\nand milk"})
			w.h.must(err)
			w.golden("completion")
		},
	} {
		t.Run(name, run)
	}
}

// subagent has a part of a running turn's work done by a subagent.
func (w *wire) subagent() {
	w.t.Helper()
	ctx, j := w.t.Context(), w.h.journal
	_, _, err := j.Turns.Accept(ctx, protocol.Event{ID: "above", Session: "main", Sensor: protocol.SensorChatMessage, Level: 1, Stamp: w.h.config.Now(), Text: "find it"}, "turn-above")
	w.h.must(err)
	w.h.must(j.Subagents.PutSubagent(ctx, journal.Subagent{ID: "work", Session: "main", Turn: "turn-above", Event: "above", Conversation: "main.find", Label: "find",
		Task: "Find the samovar.", Skill: "plain", Tools: []string{"look_up"}, Route: protocol.LocalRoute(protocol.ChannelEmacs)}))
	w.submit(protocol.Event{ID: "work", Session: "main.find", Sensor: protocol.SensorChatMessage, Route: protocol.Route{Kind: protocol.RouteSubagent},
		Level: 1, Stamp: w.h.config.Now(), Text: "Find the samovar."})
}
