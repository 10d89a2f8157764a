package daemon_test

import (
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// Of a question below an old heading the model is shown what that heading and those above it
// said, and nothing of their siblings; every client, the file, a fork and an Emacs that comes
// later have it in its place.
func TestBranch(t *testing.T) {
	in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("* A"), Times: -1})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	for _, id := range []string{"one", "two", "three"} {
		ask(t, e, id, id)
	}
	answer := func(id string) string { return between(e.Text(), ":ID:       "+id+"\n:END:\n", ":ID:       ") }
	below := func(id, parent string, level int64, history string) []string {
		t.Helper()
		above := strings.Repeat("*", int(level)) + " " + id + "\n:PROPERTIES:\n:HISTORY: " + history + "\n:END:\n"
		sendWith(t, e, with(id, id, above, protocol.Field{Key: "parent", Value: parent}, protocol.Field{Key: "level", Value: level}))
		var told []string
		for _, m := range model.Requests()[len(model.Requests())-1].Messages()[1:] {
			if m.Role == "user" {
				told = append(told, m.Content)
			}
		}
		return told
	}
	for _, c := range []struct {
		id, parent string
		level      int64
		history    string
		want       string
	}{
		{"b1", answer("one"), 3, "branch", "one b1"},
		{"b2", "b1", 4, "branch", "one b1 b2"},
		{"b3", "one", 2, "branch", "one b3"},
		{"b4", "", 1, "branch", "b4"},
		{"b5", answer("two"), 3, "all", "one two three b1 b2 b3 b4 b5"},
		{"b6", "b5", 4, "none", "b6"},
	} {
		if got := strings.Join(below(c.id, c.parent, c.level, c.history), " "); got != c.want {
			t.Errorf("%s was asked with %q, want %q", c.id, got, c.want)
		}
	}
	want := "* one\n** A\n*** b1\n**** A\n**** b2\n***** A\n** b3\n*** A\n* two\n** A\n*** b5\n**** A\n**** b6\n***** A\n* three\n** A\n* b4\n** A\n* "
	if got := bare(e.Text()); got != want {
		t.Errorf("the buffer is\n%s\nwant\n%s", got, want)
	}
	converged(t, in, e)
	late := in.editor(t, rpctest.Config{})
	see(t, late, "everything", func() bool { return bare(late.Text()) == want })
	var fork protocol.SessionForkResult
	if err := e.Call(within(t), protocol.MethodSessionFork, protocol.SessionForkParams{Session: "main", To: "fork"}, &fork); err != nil {
		t.Fatal(err)
	}
	if got := bare(in.conversation(t, "fork")); got != want {
		t.Errorf("the fork is\n%s\nwant\n%s", got, want)
	}
	// The fork's turns stand below the fork's own.
	other := in.editor(t, rpctest.Config{Session: "fork"})
	id := between(in.conversation(t, "fork"), "*** b1", ":ID:       ")
	sendWith(t, other, append(with("f1", "f1", "**** f1\n:PROPERTIES:\n:HISTORY: branch\n:END:\n"),
		protocol.Field{Key: "parent", Value: id}, protocol.Field{Key: "session", Value: "fork"}, protocol.Field{Key: "level", Value: int64(4)}))
	if last := model.Requests()[len(model.Requests())-1].Messages(); len(last) != 6 || last[1].Content != "one" || last[3].Content != "b1" {
		t.Errorf("in the fork the model was shown %+v", last)
	}
}

// between is the rest of the line behind a mark, the first one behind another text.
func between(text, behind, mark string) string {
	_, text, _ = strings.Cut(text, behind)
	_, text, _ = strings.Cut(text, mark)
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(line)
}
