package daemon_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/mcp"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

var updateConversations = flag.Bool("update", false, "write what was done in the first way into the conversations")

// conversationFiles are the conversations that every dialect and wire must have alike. Each has a script, files
// of the home, and the journal of what was done that is wanted.
//
// A line of the script is of the model if it begins with "<": what it says and calls in one reply, separated by
// " | ". A renderer writes it in the notation of the dialect at hand. The other lines are of the person.
const conversationFiles = "testdata/conversations/*.txtar"

// way is how a conversation travels: a dialect, and the driver of a wire.
type way struct{ dialect, driver string }

func (w way) String() string { return w.dialect + " " + w.driver }

// other is the way after a switch of the dialect in the middle of a conversation.
func (w way) other() way {
	if w.dialect == "native" {
		return way{"plist", w.driver}
	}
	return way{"native", w.driver}
}

// structured reports whether replies are held to a JSON schema.
func (w way) structured() bool { return w.dialect == "constrained" && w.driver != "openai" }

// properties are those of a model's heading.
func (w way) properties() string {
	properties := ":DIALECT: " + w.dialect + "\n:DRIVER: " + w.driver + "\n"
	if w.dialect == "constrained" && !w.structured() {
		properties += ":GRAMMAR: grammar\n"
	}
	return properties
}

// ways are all. Messages and OpenAI's Responses hold replies to a JSON schema, and chat completions to a grammar.
func ways() (all []way) {
	for _, driver := range []string{"openai", "anthropic", "responses"} {
		for _, dialect := range []string{"plist", "constrained", "native"} {
			all = append(all, way{dialect, driver})
		}
	}
	return all
}

// TestConversations: the same conversations are had in every dialect and on every wire, with servers that
// refuse what the real ones refuse, and what was done is the same.
func TestConversations(t *testing.T) {
	paths, err := filepath.Glob(conversationFiles)
	if err != nil || len(paths) < 20 {
		t.Fatalf("there are %d conversations, %v", len(paths), err)
	}
	archives := map[string]*txtar.Archive{}
	var names []string
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		archives[name], names = archive, append(names, name)
	}
	for i, w := range ways() {
		t.Run(w.String(), func(t *testing.T) {
			t.Parallel()
			h := startHouse(t, w, names, archives)
			for _, name := range names {
				t.Run(name, func(t *testing.T) {
					archive := archives[name]
					got := h.play(t, name, archive)
					for j, f := range archive.Files {
						switch {
						case f.Name != "want":
						case *updateConversations && i == 0:
							archive.Files[j].Data = []byte(got)
							if err := os.WriteFile(filepath.Join(filepath.Dir(conversationFiles), name+".txtar"), txtar.Format(archive), 0o644); err != nil {
								t.Fatal(err)
							}
						case got != string(f.Data) && !*updateConversations:
							t.Errorf("what was done is\n%s\nand wanted is\n%s", got, f.Data)
						}
					}
				})
			}
		})
	}
}

// house is a home with a model for each conversation, all asked in one way. Each has a server of its own.
type house struct {
	*instance
	way     way
	servers map[string]*llmtest.Server
}

func startHouse(t *testing.T, w way, names []string, archives map[string]*txtar.Archive) *house {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in := &instance{variables: map[string]string{"ORG_AGENT_LLM_API_KEY": canary}}
	in.settle(t)
	h := &house{instance: in, way: w, servers: map[string]*llmtest.Server{}}
	ledger := filepath.Join(in.paths.Home, "work", "ledger.txt")
	config := "* Models\n"
	for _, name := range names {
		for _, f := range archives[name].Files {
			if strings.HasPrefix(f.Name, "work/") || strings.HasPrefix(f.Name, "skills/") {
				in.write(t, f.Name, string(f.Data))
			}
		}
		server := llmtest.Start(t, exchangesOf(t, w, script(t, archives[name]))...)
		h.servers[name] = server
		for _, model := range []struct {
			name string
			way  way
		}{{name, w}, {name + "-other", w.other()}} {
			config += "** " + model.name + "\n:PROPERTIES:\n:BASE_URL: " + server.URL() + "\n:MODEL: " + model.name + "\n:API_KEY: env:ORG_AGENT_LLM_API_KEY\n" + model.way.properties() + ":END:\n"
		}
	}
	config += fmt.Sprintf("* MCP\n** Fake\n:PROPERTIES:\n:COMMAND: %q\n:ENVIRONMENT: %s=1\n:ENVIRONMENT+: %s=%s\n:END:\n* Settings\n:PROPERTIES:\n:LLM: %s\n:END:\n", self, mcpVariable, ledgerVariable, ledger, names[0])
	in.write(t, "config.org", config)
	in.write(t, "policy.org", handingOn)
	in.write(t, "work/.keep", "")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	until(t, "the MCP server is ready", func() bool {
		var status protocol.StatusResult
		if err := e.Call(within(t), protocol.MethodStatus, protocol.Empty{}, &status); err != nil {
			t.Fatal(err)
		}
		return len(status.MCP) == 1 && status.MCP[0].State == mcp.Ready
	})
	return h
}

// script returns the lines of a conversation.
func script(t *testing.T, archive *txtar.Archive) (lines []string) {
	t.Helper()
	for _, f := range archive.Files {
		if f.Name == "script" {
			for line := range strings.Lines(string(f.Data)) {
				if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
					lines = append(lines, line)
				}
			}
		}
	}
	if len(lines) == 0 {
		t.Fatal("a conversation has no script")
	}
	return lines
}

// interlocutor plays what the person does in a conversation.
type interlocutor struct {
	*testing.T
	house   *house
	name    string // of the conversation, which is its session too
	e       *rpctest.Editor
	events  int
	replies int    // of the model, so far
	turn    string // the latest
	decided map[string]bool
}

// play plays a conversation and returns the journal of what was done.
func (h *house) play(t *testing.T, name string, archive *txtar.Archive) string {
	t.Helper()
	e := h.editor(t, rpctest.Config{Session: name})
	p := &interlocutor{T: t, house: h, name: name, e: e, decided: map[string]bool{}}
	p.model(name)
	for _, line := range script(t, archive) {
		does, rest, _ := strings.Cut(line, " ")
		if does == "<" {
			p.replies++
			continue
		}
		p.do(does, rest)
	}
	requests := h.servers[name].Requests()
	if asked := len(requests); asked != p.replies {
		t.Errorf("the model was asked %d times, and the script has %d replies", asked, p.replies)
	}
	for i, request := range requests {
		h.asked(t, i, request)
	}
	return h.deeds(t, name)
}

// asked checks that a request is in its dialect: with functions and without property lists, or the other way
// round. A request for notes has neither.
func (h *house) asked(t *testing.T, i int, request llmtest.Received) {
	t.Helper()
	var body struct {
		Model   string
		Tools   []json.RawMessage
		Grammar string
		Output  struct{ Format json.RawMessage } `json:"output_config"`
		Text    struct{ Format json.RawMessage }
	}
	if err := json.Unmarshal(request.Body, &body); err != nil {
		t.Fatal(err)
	}
	w := h.way
	if strings.HasSuffix(body.Model, "-other") {
		w = w.other()
	}
	text := string(request.Body)
	if strings.Contains(text, "You keep the notes of a conversation") {
		return
	}
	native, taught, schema := w.dialect == "native", strings.Contains(text, "(:type :request :target"), len(body.Output.Format)+len(body.Text.Format)
	if native != (len(body.Tools) > 0) || (native || w.structured()) == taught || (w.dialect == "constrained" && !w.structured()) != (body.Grammar != "") ||
		w.structured() != (schema > 0) || w.structured() != strings.Contains(text, `A reply is one JSON object`) {
		t.Errorf("request %d, of %s, has %d tools, a grammar of %d bytes, a schema of %d, and property lists: %t", i, w, len(body.Tools), len(body.Grammar), schema, taught)
	}
}

func (p *interlocutor) model(name string) {
	p.Helper()
	if err := p.e.Call(within(p), protocol.MethodSessionModel, protocol.SessionModelParams{Session: p.name, Model: name}, nil); err != nil {
		p.Fatal(err)
	}
}

// do does a line of the script.
func (p *interlocutor) do(does, rest string) {
	p.Helper()
	switch does {
	case "begin", "ask":
		p.events++
		sent, err := p.e.Send(within(p), fmt.Sprintf("%s-%d", p.name, p.events), rest)
		if err != nil {
			p.Fatal(err)
		}
		if p.turn = sent.Turn; does == "ask" {
			p.wait()
		}
	case "image":
		p.events++
		event := message(fmt.Sprintf("%s-%d", p.name, p.events), rest, image("dot.png", pixel))
		sendWith(p.T, p.e, append(event, protocol.Field{Key: "session", Value: p.name}))
	case "wait":
		p.wait()
	case "allow", "deny":
		p.decide(protocol.AskApproval, protocol.AskDecideParams{Decision: map[string]protocol.Decision{"allow": protocol.AllowOnce, "deny": protocol.Deny}[does], Reason: rest})
	case "answer":
		name, value, _ := strings.Cut(rest, " ")
		p.decide(protocol.AskQuestion, protocol.AskDecideParams{Decision: protocol.Answered, Answers: []protocol.FieldAnswer{{Name: name, Values: []string{value}}}})
	case "decline":
		p.decide(protocol.AskQuestion, protocol.AskDecideParams{Decision: protocol.Declined, Reason: rest})
	case "stop":
		until(p, "the request that is stopped", func() bool { return len(p.house.servers[p.name].Requests()) == p.replies })
		cancel(p, p.e, p.turn)
		p.wait()
	case "other":
		p.model(p.name + "-other")
	case "summarise":
		if _, err := compactNow(p.T, p.e, protocol.SessionCompactParams{Session: p.name}); err != nil {
			p.Fatal(err)
		}
	default:
		p.Fatalf("the script says %q", does)
	}
}

func (p *interlocutor) wait() {
	p.Helper()
	if _, err := p.e.WaitTurn(within(p), p.turn); err != nil {
		p.Fatalf("%v; notices %q", err, p.e.Notices())
	}
}

// decide decides what waits for the person next.
func (p *interlocutor) decide(sort protocol.AskSort, decision protocol.AskDecideParams) {
	p.Helper()
	open := func() []protocol.Ask {
		asks := p.e.Approvals()
		if sort == protocol.AskQuestion {
			asks = p.e.Questions()
		}
		return slices.DeleteFunc(slices.Clone(asks), func(a protocol.Ask) bool { return p.decided[a.ID] || a.Session != p.name })
	}
	see(p, p.e, "something that waits for the person", func() bool { return len(open()) > 0 })
	decision.ID = open()[0].ID
	p.decided[decision.ID] = true
	if err := p.e.Call(within(p), protocol.MethodAskDecide, decision, &protocol.AskDecideResult{}); err != nil {
		p.Fatal(err)
	}
}

// deeds is the journal of what was done in a conversation: what was asked, proposed, decided and answered, what
// came of it, and how the files are now. The words in which a model is told of a fault are those of its dialect,
// and left out.
func (h *house) deeds(t *testing.T, session string) string {
	t.Helper()
	var b strings.Builder
	states := map[string]string{}
	for _, row := range h.rows(t, journal.Query{Session: session, Limit: 5000}) {
		var data struct {
			journal.ToolStep
			State, Kind, Raw, Decision, Reason string
			Summary                            any
			Final                              bool
			Told                               int
			Label, Task                        string
			Answers                            json.RawMessage
			Unusable                           string
		}
		if err := json.Unmarshal(row.Data, &data); err != nil {
			t.Fatalf("%s: %v", row.Kind, err)
		}
		switch row.Kind {
		case journal.KindEvent:
			if event, err := row.Event(); err == nil {
				fmt.Fprintf(&b, "asked: %s\n", event.Text)
			}
		case journal.KindToolStep:
			b.WriteString(stepDeed(data.ToolStep))
		case journal.KindProposal:
			if data.Unusable != "" {
				b.WriteString(toldDeed)
			}
		case journal.KindApproval:
			fmt.Fprintf(&b, "waits: %v\n", data.Summary)
		case journal.KindDecision:
			fmt.Fprintf(&b, "decided: %s %s\n", data.Decision, data.Reason)
		case journal.KindQuestion:
			b.WriteString("waits: a question\n")
		case journal.KindAnswer:
			fmt.Fprintf(&b, "answered: %s\n", data.Answers)
		case journal.KindAct:
			if data.Kind == journal.ActAnswer && data.Final {
				fmt.Fprintf(&b, "reply: %s\n", data.Raw)
			}
		case journal.KindCompaction:
			fmt.Fprintf(&b, "summary of %d turns: %v\n", data.Told, data.Summary)
		case journal.KindSubagent:
			fmt.Fprintf(&b, "subagent: %s\n", data.Task)
		case journal.KindTurn:
			if data.State != "" && states[row.Turn] != data.State {
				states[row.Turn] = data.State
				fmt.Fprintf(&b, "turn: %s\n", data.State)
			}
		}
	}
	files, err := filepath.Glob(filepath.Join(h.paths.Home, "work", session+"*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "file %s: %q\n", filepath.Base(path), text)
	}
	return tokensOf.ReplaceAllString(strings.ReplaceAll(b.String(), h.paths.Home, "HOME"), "N tokens")
}

// tokensOf is what a subagent used, which differs from dialect to dialect.
var tokensOf = regexp.MustCompile(`\b\d+ tokens`)

// toldDeed is what the journal of deeds has of a call that cannot be made. Some dialects find that out when they read
// the reply, and some when the call is judged. The model is told of it once, which takes one more reply.
const toldDeed = "told: the call cannot be made\n"

// digestPattern is the digest of a tool of an MCP server. It includes the path of the server's program, which is the
// test's own and has another path in each run.
var digestPattern = regexp.MustCompile(`:digest "[0-9a-f]{16}"`)

// stepDeed is a step as the journal of deeds has it.
func stepDeed(step journal.ToolStep) string {
	switch {
	case !step.IsResult():
		return ""
	case step.Verdict != "performed" && (step.Code == protocol.ToolArguments || step.Code == protocol.ToolNotFound):
		return toldDeed
	}
	var b strings.Builder
	fmt.Fprintf(&b, "step: %s: %s", digestPattern.ReplaceAllString(step.Action, `:digest "DIGEST"`), step.Verdict)
	switch {
	case step.Verdict != "performed":
		fmt.Fprintf(&b, " %s", step.Code)
	case len(step.Calls) == 0:
		fmt.Fprintf(&b, ": %.100q", step.Text)
	}
	b.WriteByte('\n')
	for _, call := range step.Calls {
		fmt.Fprintf(&b, "  call: %s", call.Tool)
		if call.Failed {
			fmt.Fprintf(&b, ": failed %s\n", call.Code)
		} else {
			fmt.Fprintf(&b, ": %.100q\n", call.Text)
		}
	}
	return b.String()
}
