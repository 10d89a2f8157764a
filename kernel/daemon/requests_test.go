package daemon_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/rpc/rpctest"
)

// TestRequestsAreKept: the journal has each request as the server got it, byte for byte, also
// those of tools and those after another start; and a long conversation does not make it grow by
// the square of the turns.
func TestRequestsAreKept(t *testing.T) {
	in, model := newInstanceAndModel(t,
		llmtest.Exchange{Match: "^use a tool", Reply: `(:type :request :target :tool :action :call :tool "list_skills" :args ())`},
		llmtest.Exchange{Reply: insertion("* Seen\n" + strings.Repeat("what <there> is & \\\"was\\\" é ", 60)), Times: -1})
	const turns, half = 16, 8
	for from := 0; from < turns; from += half {
		k := in.start(t)
		e := in.editor(t, rpctest.Config{})
		for i := from; i < from+half; i++ {
			question := fmt.Sprintf("question %d", i)
			if i == 5 {
				question = "use a tool"
			}
			ask(t, e, fmt.Sprintf("q%d", i), question)
		}
		e.Close()
		if err := k.end(); err != nil {
			t.Fatal(err)
		}
	}
	sent, size, text := model.Requests(), 0, 0
	rows := in.rows(t, journal.Query{Kinds: []journal.Kind{journal.KindModelRequest}})
	if len(rows) != len(sent) || len(sent) != turns+1 {
		t.Fatalf("%d requests were sent, and the journal has %d", len(sent), len(rows))
	}
	for i, row := range rows {
		var kept struct {
			System   string
			Messages []llmtest.Message
		}
		if err := json.Unmarshal(row.Data, &kept); err != nil {
			t.Fatal(err)
		}
		var got struct{ Messages []llmtest.Message } // with the stamps, which Received.Messages leaves out
		if err := json.Unmarshal(sent[i].Body, &got); err != nil {
			t.Fatal(err)
		}
		all := append([]llmtest.Message{{Role: "system", Content: kept.System}}, kept.Messages...)
		if kept, want := fmt.Sprintf("%q", all), fmt.Sprintf("%q", got.Messages); kept != want {
			t.Fatalf("request %d is kept as\n%s\nand was\n%s", i+1, kept, want)
		}
		text += len(row.Data)
	}
	db, err := sql.Open("sqlite", in.paths.Journal)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT sum(length(CAST(data AS BLOB))) FROM journal WHERE kind = 'model-request'").Scan(&size); err != nil {
		t.Fatal(err)
	}
	if size > text/5 {
		t.Errorf("the requests take %d bytes of the journal, and are %d together", size, text)
	}
}
