package daemon_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/logfile"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/rpc/rpctest"
)

// evil is what a screen would obey: a title of the terminal, a cursor that goes home, text that is read
// backwards, and a byte that ends a C string.
const evil = "\x1b]0;owned\x07\x1b[2J\x00\u202egpj.exe\u202c\u2066\u0085\u009b31m\x7f"

// firstControl returns the first character of a text that a screen would obey.
func firstControl(text string) (rune, bool) {
	for _, c := range text {
		if unicode.IsControl(c) && !strings.ContainsRune("\n\t\f", c) || c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069 {
			return c, true
		}
	}
	return 0, false
}

// TestControlsOfAModel: wherever a text of a model is shown or kept for people, no character of it is left
// that a screen obeys.
func TestControlsOfAModel(t *testing.T) {
	ask := calling("ask_user", `:title "Title`+evil+`" :questions ((:question "Really`+evil+`?" :options ("yes`+evil+`" "no") :name "a"))`)
	ask.Match = "^question"
	call := calling("memory_search", `:query "x`+evil+`"`)
	call.Match = "^call"
	save := calling("memory_save", `:title "Title`+evil+`" :text "Text`+evil+` \\n* more"`)
	save.Match = "^save"
	unknown := calling("no"+evil, `:x "y"`)
	unknown.Match, unknown.Times = "^unknown", -1
	in := newInstance(t,
		llmtest.Exchange{Match: "^plist", Reply: insertion("* Title" + evil + `\nText` + evil), Reasoning: "thinking" + evil, Chunk: 3},
		llmtest.Exchange{Match: "^prose", Reply: "Text" + evil + "\n\n#\x00+begin_src sh\nrm" + evil + "\n#+end_src\n\n| a" + evil + " |\n", Reasoning: "thinking" + evil, Chunk: 5},
		llmtest.Exchange{Match: "^broken", Status: 400, Body: `{"error":{"message":"no` + "\\u001b[2J\\u202e" + `"}}`, Times: -1},
		ask, call, save, unknown,
		llmtest.Exchange{Reply: insertion("Done" + evil), Times: -1})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	conn, err := rpc.Dial(within(t), rpc.DialConfig{Socket: in.paths.Socket, Token: in.token(t), Client: protocol.ClientInfo{Name: "looker"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, id := range []string{"plist", "prose", "call", "unknown", "broken"} {
		if _, err := e.Ask(within(t), id, id); err != nil {
			t.Fatal(id, err)
		}
	}
	_, approval := asked(t, e, "save", "save")
	approval.Action = "" // exactly what is judged; no client shows it
	shown := map[string]string{"the approval": fmt.Sprintf("%+v", approval)}
	if err := e.Call(within(t), protocol.MethodAskDecide, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.AllowOnce}, nil); err != nil {
		t.Fatal(err)
	}
	idle(t, e)
	if _, err := e.Send(within(t), "question", "question"); err != nil {
		t.Fatal(err)
	}
	see(t, e, "the question", func() bool { return len(e.Questions()) > 0 })
	shown["the buffer"], shown["thoughts"] = e.Text(), e.Thoughts()
	shown["notices"], shown["problems"] = strings.Join(e.Notices(), "\n"), strings.Join(e.Problems(), "\n")
	for _, d := range e.Deltas() {
		shown["previews"] += d.Text
	}
	for _, p := range e.Progress() {
		shown["progress"] += fmt.Sprintf("%+v\n", p)
	}
	for _, q := range e.Questions() {
		shown["questions"] += fmt.Sprintf("%+v\n", q)
	}
	for _, a := range e.Acts() {
		shown["acts"] += fmt.Sprintf("%+v\n", a)
	}
	for _, directory := range []string{in.paths.Sessions, filepath.Join(in.paths.Home, "memory"), in.paths.Home} {
		files, err := filepath.Glob(filepath.Join(directory, "*.org"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			shown[file] = string(text)
		}
	}
	log, err := os.ReadFile(in.paths.Log)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(log)) {
		r := logfile.Parse(strings.TrimSuffix(line, "\n"))
		shown["the log"] += r.String() + "\n"
	}
	for _, id := range []string{"plist", "prose", "call", "save", "unknown", "broken", "question"} {
		var trace protocol.TraceGetResult
		if err := conn.Call(within(t), protocol.MethodTraceGet, protocol.TraceGetParams{ID: id}, &trace); err != nil {
			t.Fatal(err)
		}
		shown["why "+id] = trace.Outline
	}
	if !strings.Contains(shown["the buffer"], "Text") || !strings.Contains(shown["the buffer"], "Really") || !strings.Contains(shown["the buffer"], "thinking") {
		t.Errorf("the test shows nothing:\n%s", shown["the buffer"])
	}
	for where, text := range shown {
		if c, is := firstControl(text); is {
			at := strings.IndexRune(text, c)
			t.Errorf("%s has %U: %q", where, c, text[max(0, at-80):min(len(text), at+40)])
		}
	}
}
