//go:build model

package daemon_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// modelHeading is the heading of config.org for a model of llama.cpp's own server. It sets no dialect and no
// window: the server says what it is.
func modelHeading(server *llmtest.LlamaCpp, model, rows string) string {
	return fmt.Sprintf("* Models\n** %s\n:PROPERTIES:\n:BASE_URL: %s\n:MODEL: %s\n:TEMPERATURE: 0\n%s:END:\n", model, server.URL(), model, rows)
}

// withModel returns a home that is set up for a real model.
func withModel(t *testing.T, configuration string) *instance {
	t.Helper()
	in := &instance{variables: map[string]string{}}
	in.settle(t)
	in.write(t, "config.org", configuration)
	return in
}

// TestRealModelAnswers: a server that is still loading its model is waited for. Its answer is streamed, the second
// turn reuses what the first has sent, and a turn that is cancelled leaves the server idle.
func TestRealModelAnswers(t *testing.T) {
	server := llmtest.StartLlamaCpp(t, "smollm2", "--ctx-size", "8192")
	in := withModel(t, modelHeading(server, "smollm2", ":MAX_TOKENS: 60\n"))
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	first, err := e.Ask(within(t), "q1", "What is the capital of France?")
	if err != nil || first.State != protocol.TurnAnswered || first.Input == 0 {
		t.Fatalf("%+v, %v; the buffer is\n%s", first, err, e.Text())
	}
	t.Logf("first turn: %d tokens in, %d out, %.1f s", first.Input, first.Output, first.Seconds)
	if deltas := len(e.Deltas()); deltas < 2 && first.Output > 20 { // what fits the heading comes at once
		t.Errorf("the answer came in %d deltas", deltas)
	}
	second, err := e.Ask(within(t), "q2", "And of Spain?")
	if err != nil || second.State != protocol.TurnAnswered || second.Total == nil || second.Window != 8192 {
		t.Fatalf("%+v, %v; the buffer is\n%s", second, err, e.Text())
	}
	t.Logf("second turn: %d tokens in, %.1f s; of both %+v", second.Input, second.Seconds, *second.Total)
	if kept := second.Total.Cached; kept < second.Input*8/10 {
		t.Errorf("of %d tokens of the second turn %d were kept from the first", second.Input, kept)
	}

	before := len(e.Deltas())
	sent, err := e.Send(within(t), "q3", "Write a long story about a garden.")
	if err != nil {
		t.Fatal(err)
	}
	see(t, e, "the third answer begins", func() bool { return len(e.Deltas()) > before })
	if err := e.Call(within(t), protocol.MethodTurnCancel, protocol.TurnParams{Turn: sent.Turn}, &protocol.TurnCancelResult{}); err != nil {
		t.Fatal(err)
	}
	if finished, err := e.WaitTurn(within(t), sent.Turn); err != nil || finished.State != protocol.TurnCancelled {
		t.Fatalf("%+v, %v", finished, err)
	}
	until(t, "the server is idle", func() bool { return !server.Busy(t) })
}

// TestRealModelDies: when a server is killed amid an answer, what came of it is kept, and is said to be incomplete.
func TestRealModelDies(t *testing.T) {
	server := llmtest.StartLlamaCpp(t, "smollm2", "--ctx-size", "8192").Wait(t)
	in := withModel(t, modelHeading(server, "smollm2", ""))
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	sent, err := e.Send(within(t), "q1", "Count from one to a thousand, in words.")
	if err != nil {
		t.Fatal(err)
	}
	see(t, e, "the answer begins", func() bool { return len(e.Deltas()) > 0 })
	server.Kill()
	finished, err := e.WaitTurn(within(t), sent.Turn)
	if err != nil || !strings.Contains(finished.Notice, "cut off") || !strings.Contains(finished.Notice, "the answer is incomplete") || !strings.Contains(e.Text(), ":STATE:    interrupted") {
		t.Errorf("%+v, %v; the buffer is\n%s", finished, err, e.Text())
	}
	t.Logf("told is %q", finished.Notice)
}

// TestRealModelWindow: a long conversation stays within the window that the server says it has.
func TestRealModelWindow(t *testing.T) {
	server := llmtest.StartLlamaCpp(t, "smollm2", "--ctx-size", "6144").Wait(t)
	in := withModel(t, modelHeading(server, "smollm2", ":MAX_TOKENS: 30\n"))
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	largest := 0
	for i := range 8 {
		finished, err := e.Ask(within(t), fmt.Sprint("q", i), fmt.Sprintf("Number %d. ", i)+strings.Repeat("The garden has roses, and the house has a roof. ", 70))
		if err != nil || finished.State != protocol.TurnAnswered {
			t.Fatalf("%d. %+v, %v; the buffer is\n%s", i, finished, err, e.Text())
		}
		largest = max(largest, finished.Input)
	}
	t.Logf("the largest request had %d tokens", largest)
	if largest > 6144 || largest < 4000 {
		t.Errorf("the largest request had %d tokens", largest)
	}
}

// TestMeaningWithRealVectors: what a person wrote is found by its meaning, with a real model's vectors, as a person
// sets it up. The questions share no word with the notes, and words alone find nothing.
func TestMeaningWithRealVectors(t *testing.T) {
	server := llmtest.StartLlamaCpp(t, "minilm", "--embedding").Wait(t)
	in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("* Answer"), Times: -1})
	notes := []struct{ title, text, question string }{
		{"The automobile", "It stands in Oslo.", "car"},
		{"Dentist", "Appointment on Tuesday for a filling.", "my aching tooth"},
		{"Tomatoes", "They grow best beside basil.", "vegetables in garden soil"},
		{"Salary", "The raise comes in March.", "how much money will I earn"},
		{"Grandmother", "She was born in Riga.", "my family's ancestors"},
		{"Trip", "We fly to Lisbon in June.", "holiday plans"},
	}
	var file strings.Builder
	for _, n := range notes {
		fmt.Fprintf(&file, "* %s\n%s\n", n.title, n.text)
	}
	in.write(t, "memory/2025-06-01.org", file.String())
	in.write(t, "config.org", "* Memory\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	for _, n := range notes {
		if got := find(t, e, n.question); strings.HasPrefix(got, n.title) {
			t.Fatalf("words alone find %q for %q", got, n.question)
		}
	}
	in.write(t, "config.org", fmt.Sprintf("* Memory\n** Embeddings\n:PROPERTIES:\n:BASE_URL: %s\n:MODEL: minilm\n:END:\n", server.URL()))
	until(t, "it is known what the notes mean", func() bool { return strings.HasPrefix(find(t, e, "car"), "The automobile") })
	first := 0
	for i, n := range notes {
		got := find(t, e, n.question)
		// A search does not wait long for the vector of its question, and then goes by words.
		for tries := 0; tries < 20 && !strings.HasPrefix(got, n.title); tries++ {
			time.Sleep(100 * time.Millisecond)
			got = find(t, e, n.question)
		}
		if strings.HasPrefix(got, n.title) {
			first++
		}
		ask(t, e, fmt.Sprint("q", i), n.question)
		_, lasts := systems(model)
		recalled := strings.Contains(lasts[len(lasts)-1], n.text)
		t.Logf("%q finds %q first; recalled in the conversation: %v", n.question, got, recalled)
	}
	if first < len(notes) {
		t.Errorf("%d of %d notes are found first", first, len(notes))
	}
}
