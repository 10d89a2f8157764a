package extract_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/agent/extract"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/memory"
	"org-agent/kernel/protocol"
)

// fixture is a conversation in a real journal, with the records of a real memory.
type fixture struct {
	t       *testing.T
	journal *journal.Journal
	store   *memory.Store
	script  *llmtest.Script
	model   *extract.Proposer
}

func newFixture(t *testing.T, replies ...llmtest.Turn) *fixture {
	t.Helper()
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	files, _, err := journal.OpenFiles(t.Context(), filepath.Join(t.TempDir(), "index.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = files.Close(), j.Close() })
	home, ids := t.TempDir(), 0
	index := &memory.Index{Files: files, Roots: memory.HomeRoots(home)}
	a := &fixture{t: t, journal: j, script: &llmtest.Script{Name: "script", Turns: replies}}
	a.store = &memory.Store{Home: home, Journal: j.Records, Index: index, Now: time.Now, NewID: func() string { ids++; return fmt.Sprint("id-", ids) }}
	a.model = &extract.Proposer{
		Transcripts: j.Transcripts, Turns: j.Turns, Models: j.Sessions, Rows: j.Records, UsageStore: j.Usage, Provider: a.script, Model: func() string { return "small" },
		Records: index, Store: a.store, Hide: func(text string) string { return strings.ReplaceAll(text, "swordfish", "REDACTED") },
	}
	return a
}

func (a *fixture) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

// say adds an answered turn to the conversation.
func (a *fixture) say(id, question string) {
	a.t.Helper()
	event := protocol.Event{ID: id, Session: "main", Sensor: protocol.SensorChatMessage, Route: protocol.LocalRoute(protocol.ChannelEmacs), Level: 1, Text: question}
	turn, _, err := a.journal.Turns.Accept(a.t.Context(), event, "t-"+id)
	a.must(err)
	a.must(a.journal.Acts.PutAct(a.t.Context(), journal.Act{ID: "a-" + id, Session: "main", Turn: turn.ID, Event: id, Kind: journal.ActAnswer, Raw: "I see.", Plain: "I see.", Final: true}))
	_, err = a.journal.Turns.SetTurn(a.t.Context(), journal.TurnChange{ID: turn.ID, State: protocol.TurnAnswered})
	a.must(err)
}

// row returns the data of the last row of an extraction.
func (a *fixture) row() (row struct {
	Turn, Model, Asked, Reply, Err string
	Proposed                       int
	Refused                        []string
}) {
	a.t.Helper()
	rows, err := a.journal.Records.Entries(a.t.Context(), journal.Query{Kinds: []journal.Kind{journal.KindFormation}, Latest: true, Limit: 1})
	a.must(err)
	if len(rows) == 0 {
		a.t.Fatal("the journal has no look")
	}
	a.must(json.Unmarshal(rows[0].Data, &row))
	return row
}

// TestExtract: a model is sent the conversation and the related records. Its changes wait for a person, and
// invalid changes are recorded with the reason. No turn is sent twice.
func TestExtract(t *testing.T) {
	reply := `(:type :memory :changes ((:action :add :turn 1 :title "The cat" :text "The cat is grey." :tags ("pets") :lasting t)
 (:action :update :turn 2 :id "id-1" :text "The dog is old.") (:action :delete :turn 2 :id "id-99") (:action :add :turn 7 :title "x" :text "y")
 (:action :improve :turn 1 :title "x" :text "y") (:action :noop :turn 1)))`
	a := newFixture(t, llmtest.Turn{llmtest.Text(reply), llmtest.FinishWith(llm.FinishStop, &llm.Usage{Input: 10, Output: 5})}, llmtest.Say("(:type :memory :changes nil)"))
	_, _, err := a.store.Save(t.Context(), "t-0", memory.Record{Title: "The dog", Text: "The dog is brown."}, true)
	a.must(err)
	a.say("q1", "my cat is grey, and the key is swordfish")
	a.say("q2", "the dog is old now")
	n, err := a.model.Extract(t.Context(), "main")
	if err != nil || n != 2 {
		t.Fatalf("%d are proposed, %v", n, err)
	}
	asked := a.script.Requests()[0]
	if text := asked.Messages[0].Text; !strings.Contains(text, "my cat is grey, and the key is REDACTED") || !strings.Contains(text, "[id id-1]") || asked.Model != "small" || !asked.FirstOnly {
		t.Errorf("the model is shown %s, %+v", text, asked)
	}
	waiting, err := a.store.Proposals(t.Context())
	a.must(err)
	if len(waiting) != 2 || waiting[0].Operation != memory.Saved || waiting[0].Event != "q1" || !waiting[0].Lasting || !slices.Equal(waiting[0].Tags, []string{"pets"}) ||
		waiting[1].Operation != memory.Updated || waiting[1].Record != "id-1" || waiting[1].Event != "q2" {
		t.Errorf("what waits: %+v", waiting)
	}
	row := a.row()
	if row.Turn != "t-q2" || row.Proposed != 2 || len(row.Refused) != 3 || strings.Contains(row.Asked, "swordfish") {
		t.Errorf("the journal has %+v", row)
	}
	for i, why := range []string{"no id of a record", "no turn 7", ":action :improve"} {
		if !strings.Contains(row.Refused[i], why) {
			t.Errorf("left out: %s, not for %s", row.Refused[i], why)
		}
	}
	if n, err := a.model.Extract(t.Context(), "main"); n != 0 || err != nil || len(a.script.Requests()) != 1 {
		t.Errorf("looked at again: %d, %v", n, err)
	}
	a.say("q3", "and the bird?")
	if n, err := a.model.Extract(t.Context(), "main"); n != 0 || err != nil || strings.Contains(a.script.Requests()[1].Messages[0].Text, "my cat") {
		t.Errorf("what is new: %d, %v", n, err)
	}
}

// TestExtractFails: if the model fails or its reply is unusable, it is not asked again about the turn.
func TestExtractFails(t *testing.T) {
	for why, reply := range map[string]llmtest.Turn{
		"did not say what to keep, but": llmtest.Say(`(:type :response :text "The cat is grey.")`),
		"did not say what to keep:":     llmtest.Say("The cat is grey."),
		"ask the model what to keep":    {llmtest.FailAs(llm.ClassAuth)},
	} {
		t.Run(why, func(t *testing.T) {
			a := newFixture(t, reply)
			a.say("q1", "my cat is grey")
			if n, err := a.model.Extract(t.Context(), "main"); n != 0 || err == nil || !strings.Contains(err.Error(), why) || !strings.Contains(a.row().Err, why) {
				t.Errorf("%d, %v; the journal has %q", n, err, a.row().Err)
			}
			if _, err := a.model.Extract(t.Context(), "main"); err != nil || len(a.script.Requests()) != 1 {
				t.Errorf("asked %d times, %v", len(a.script.Requests()), err)
			}
		})
	}
}
