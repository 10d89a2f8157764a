package daemon_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// Each purpose has the model that is named for it, with its own effort, and nobody else is
// asked.
func TestModelsByPurpose(t *testing.T) {
	talks := llmtest.Start(t, llmtest.Exchange{Reply: insertion("Hello"), Times: -1})
	completes := llmtest.Start(t, llmtest.Exchange{Reply: "more", Times: -1})
	notes := llmtest.Start(t, llmtest.Exchange{Match: summarising, Reply: "* Facts\n- one\n"})
	in := &instance{variables: map[string]string{}}
	in.settle(t)
	model := func(name string, server *llmtest.Server, rows string) string {
		return fmt.Sprintf("** %s\n:PROPERTIES:\n:BASE_URL: %s\n:MODEL: test-model\n%s:END:\n", name, server.URL(), rows)
	}
	in.write(t, "config.org", "* Models\n"+model("talker", talks, ":EFFORT: high\n")+model("typist", completes, "")+model("clerk", notes, ":EFFORT: minimal\n")+
		"* Settings\n:PROPERTIES:\n:LLM: talker\n:COMPLETION_MODEL: typist\n:SUMMARY_MODEL: clerk\n:END:\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	for i := range 7 {
		ask(t, e, fmt.Sprint("q", i), "hi")
	}
	var completion protocol.CompleteResult
	if err := e.Call(within(t), protocol.MethodComplete, protocol.CompleteParams{Name: "a", Before: "once "}, &completion); err != nil || completion.Text != "more" {
		t.Errorf("the completion is %+v, %v", completion, err)
	}
	if result, err := compactNow(t, e, protocol.SessionCompactParams{}); err != nil || result.Notes != "* Facts\n- one\n" {
		t.Errorf("the notes are %+v, %v", result, err)
	}
	for _, c := range []struct {
		server *llmtest.Server
		asked  int
		effort string
	}{{talks, 7, "high"}, {completes, 1, ""}, {notes, 1, "minimal"}} {
		requests := c.server.Requests()
		var body struct {
			Effort string `json:"reasoning_effort"`
		}
		if len(requests) != c.asked || json.Unmarshal(requests[0].Body, &body) != nil || body.Effort != c.effort {
			t.Errorf("a server was asked %d times, want %d, with the effort %q, want %q", len(requests), c.asked, body.Effort, c.effort)
		}
	}
}

// A model that is switched off, or is not there, is an error that says so, for whatever
// purpose, and nobody is asked in its place.
func TestModelThatIsOff(t *testing.T) {
	server := llmtest.Start(t, llmtest.Exchange{Reply: insertion("Hello"), Times: -1})
	in := &instance{variables: map[string]string{}}
	in.settle(t)
	in.write(t, "config.org", "* Models\n** local\n:PROPERTIES:\n:BASE_URL: "+server.URL()+"\n:MODEL: test-model\n:END:\n"+
		"** COMMENT remote\n:PROPERTIES:\n:BASE_URL: https://example.org/v1\n:END:\n** old :ARCHIVE:\n"+
		"* Settings\n:PROPERTIES:\n:COMPLETION_MODEL: remote\n:SUMMARY_MODEL: remote:large\n:END:\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	for i := range 7 {
		ask(t, e, fmt.Sprint("q", i), "hi")
	}
	asked := len(server.Requests())
	for what, call := range map[string]func() error{
		"completion": func() error {
			return e.Call(within(t), protocol.MethodComplete, protocol.CompleteParams{Name: "a", Before: "once "}, nil)
		},
		"summary": func() error { _, err := compactNow(t, e, protocol.SessionCompactParams{}); return err },
		"conversation": func() error {
			return e.Call(within(t), protocol.MethodSessionModel, protocol.SessionModelParams{Session: "main", Model: "remote"}, nil)
		},
		"archived": func() error {
			return e.Call(within(t), protocol.MethodSessionModel, protocol.SessionModelParams{Session: "main", Model: "old"}, nil)
		},
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), "is switched off: take the word COMMENT away in line ") {
			t.Errorf("%s: the error is %v", what, err)
		}
	}
	if got := len(server.Requests()); got != asked {
		t.Errorf("the other model was asked %d times in its place", got-asked)
	}
}

// A summary, and what is to be kept, is asked of the first model alone: while that fails no
// other host is told what was said, although the conversation itself may go on there; a
// person who names another one for it has it asked.
func TestSummaryGoesNowhereElse(t *testing.T) {
	fails := func(match string) llmtest.Exchange {
		return llmtest.Exchange{Match: match, Status: 401, Body: `{"error":{"message":"no"}}`, Times: -1}
	}
	for _, c := range []struct {
		name, settings string
		other          int // requests to the other host
	}{
		{"nobody is named", ":PROPOSE_AFTER: 40ms\n", 0},
		{"another is named", ":SUMMARY_MODEL: other\n:PROPOSE_AFTER: off\n", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			first := llmtest.Start(t, fails(summarising), fails("the conversation ---"), fails("go on elsewhere"), llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
			other := llmtest.Start(t, llmtest.Exchange{Match: summarising, Reply: "* Facts\n- one\n", Times: -1},
				llmtest.Exchange{Match: "go on elsewhere", Reply: insertion("* From the other"), Times: -1},
				llmtest.Exchange{Reply: `(:type :memory :changes nil)`, Times: -1})
			in := &instance{variables: map[string]string{}}
			in.settle(t)
			model := func(name string, server *llmtest.Server) string {
				return fmt.Sprintf("** %s\n:PROPERTIES:\n:BASE_URL: %s\n:MODEL: test-model\n:END:\n", name, server.URL())
			}
			in.write(t, "config.org", "* Models\n"+model("first", first)+model("other", other)+"* Settings\n:PROPERTIES:\n"+c.settings+":END:\n")
			in.start(t)
			e := in.editor(t, rpctest.Config{})
			for i := range 7 {
				ask(t, e, fmt.Sprint("q", i), "hi")
			}
			if c.other == 0 {
				in.formed(t, 1)
			}
			_, err := compactNow(t, e, protocol.SessionCompactParams{})
			if made := err == nil; made != (c.other > 0) {
				t.Errorf("the summary came to %v", err)
			}
			if got := len(other.Requests()); got != c.other {
				t.Errorf("the other host was asked %d times, want %d", got, c.other)
			}
			ask(t, e, "q7", "go on elsewhere")
			see(t, e, "the other's answer", func() bool { return strings.Contains(e.Text(), "From the other") })
		})
	}
}
