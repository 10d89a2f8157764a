package daemon_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"org-agent/kernel/llm/llmtest"
)

// remembering is a model that knows what it is shown and nothing else. It does what a message
// tells it to ("call TOOL ARGUMENTS"), notes the facts of the part of a conversation that it is
// given, and proposes to keep what was said to be worth knowing.
type remembering struct {
	*httptest.Server

	mu       sync.Mutex
	said     []request // what it was asked in conversations
	noted    int
	largest  int    // bytes of a request
	midnight func() // what happens while it thinks about a message with that word
}

// request is one: its last line, and all of it.
type request struct{ asked, whole string }

// A fact is a word that stands nowhere else, and what it is.
var (
	planting      = regexp.MustCompile(`[a-z]+ is FACT-[0-9]{3}`)
	worthKnowing  = regexp.MustCompile(`Worth knowing: ([a-z]+) is (FACT-[0-9]{3})`)
	toolRequested = regexp.MustCompile(`^call (memory_[a-z]+) (.*)$`)
)

func remember(t *testing.T) *remembering {
	m := &remembering{}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/models") {
			fmt.Fprint(w, `{"data":[{"id":"test-model"}]}`)
			return
		}
		var asked struct{ Messages []llmtest.Message }
		err := json.NewDecoder(r.Body).Decode(&asked)
		if errors.Is(err, io.ErrUnexpectedEOF) { // the kernel was killed while it asked
			return
		}
		if err != nil || len(asked.Messages) == 0 {
			t.Errorf("a request of %d messages: %v", len(asked.Messages), err)
			return
		}
		reply, size := m.reply(asked.Messages)
		delta, _ := json.Marshal(reply)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"model\":\"test-model\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", delta)
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n", size/3)
	}))
	t.Cleanup(m.Close)
	return m
}

// reply is what it says, and the size of what it was asked.
func (m *remembering) reply(messages []llmtest.Message) (string, int) {
	var whole strings.Builder
	for _, message := range messages {
		whole.WriteString(message.Content + "\n")
	}
	last := messages[len(messages)-1].Content
	m.mu.Lock()
	defer m.mu.Unlock()
	m.largest = max(m.largest, whole.Len())
	switch {
	case strings.HasSuffix(last, "Now write the notes."):
		m.noted++
		_, part, _ := strings.Cut(last, "The part of the conversation;")
		facts := planting.FindAllString(part, -1)
		slices.Sort(facts)
		return "* Facts\n- " + strings.Join(slices.Compact(facts), "\n- ") + fmt.Sprintf("\n* Decisions\n- noted %d\n", m.noted), whole.Len()
	case strings.Contains(last, " the conversation ---\n"):
		changes := ""
		conversation, _, _ := strings.Cut(last, " what is kept already ---\n")
		for _, worth := range worthKnowing.FindAllStringSubmatch(conversation, -1) {
			changes += fmt.Sprintf(`(:action :add :title "Proposed %s" :text "%s is %s")`, worth[1], worth[1], worth[2])
		}
		return "(:type :memory :changes (" + changes + "))", whole.Len()
	}
	line := last[strings.LastIndexByte(last, '\n')+1:]
	m.said = append(m.said, request{asked: line, whole: whole.String()})
	if strings.Contains(line, "midnight") && m.midnight != nil {
		m.midnight()
	}
	if tool := toolRequested.FindStringSubmatch(line); tool != nil && !strings.Contains(last, "This is a result, ") {
		return calling(tool[1], tool[2]).Reply, whole.Len()
	}
	return insertion("* Yes\\n" + strings.Repeat("An answer of some length. ", 8)), whole.Len()
}

// since is what it was asked in conversations behind the first so many requests.
func (m *remembering) since(first int) []request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.said[first:])
}
