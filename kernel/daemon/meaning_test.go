package daemon_test

import (
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/rpc/rpctest"
)

// With a server for it a turn is reminded of what means the same in other words; when the
// server is gone all goes on with words.
func TestMeaningOfNotes(t *testing.T) {
	vectors, err := llmtest.Listen("127.0.0.1:0", llmtest.ServerScript{Alike: [][]string{{"car", "automobile"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(vectors.Close)
	in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("* Answer"), Times: -1})
	in.write(t, "config.org", fmt.Sprintf("* Memory\n** Embeddings\n:PROPERTIES:\n:BASE_URL: %s\n:MODEL: vectors\n:LIKENESS: 0.4\n:END:\n", vectors.URL()))
	in.write(t, "memory/2025-06-01.org", "* The automobile\nIt stands in Oslo.\n* Mine :@private:\nunspeakable\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	until(t, "it is known what the notes mean", func() bool { return find(t, e, "car") == "The automobile" })
	ask(t, e, "q1", "Car?")
	if _, lasts := systems(model); !strings.Contains(lasts[0], "It stands in Oslo.") {
		t.Errorf("the model was told\n%s", lasts[0])
	}
	for _, r := range vectors.Requests() {
		if strings.Contains(string(r.Body), "unspeakable") {
			t.Errorf("sent was %s", r.Body)
		}
	}
	vectors.Close()
	if got := find(t, e, "automobile"); got != "The automobile" {
		t.Errorf("without the server found is %q", got)
	}
	ask(t, e, "q2", "Car?")
	if _, lasts := systems(model); strings.Contains(lasts[1], "It stands in Oslo.") {
		t.Errorf("without the server the model was told\n%s", lasts[1])
	}
}
