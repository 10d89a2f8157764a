package undo_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/act"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/protocol"
	"org-agent/kernel/undo"
)

var kinds = kind.New(act.Kinds(act.Deps{})...)

// fixture is a journal with one turn.
type fixture struct {
	*journal.Journal
	t *testing.T
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	if _, _, err := j.Turns.Accept(t.Context(), protocol.Event{ID: "q", Session: "main", Sensor: protocol.SensorChatMessage, Level: 1, Text: "go"}, "turn"); err != nil {
		t.Fatal(err)
	}
	return fixture{j, t}
}

// record writes an act into the journal, and its receipt unless that is nil.
func (f fixture) record(id, action string, receipt *journal.Receipt) {
	f.t.Helper()
	if err := f.Acts.PutAct(f.t.Context(), journal.Act{ID: id, Session: "main", Turn: "turn", Event: "q", Kind: journal.ActAction, Action: action}); err != nil {
		f.t.Fatal(err)
	}
	if receipt == nil {
		return
	}
	if err := f.Acts.PutReceipt(f.t.Context(), id, *receipt); err != nil {
		f.t.Fatal(err)
	}
}

func (f fixture) changes(from int) undo.Changes {
	f.t.Helper()
	all, err := undo.Read(f.t.Context(), undo.Journal{Acts: f.Acts, Rows: f.Records}, kinds, "turn", from)
	if err != nil {
		f.t.Fatal(err)
	}
	return all
}

func edit(old, now string) string {
	return fmt.Sprintf(`(:type :request :target :emacs :payload (:action :edit :file "/a" :old %q :new %q))`, old, now)
}

// Each kind returns the changes that can be undone. A failed act has none, and those of an act whose
// outcome is unknown are marked unsure.
func TestChanges(t *testing.T) {
	f := newFixture(t)
	done := protocol.Receipt{Done: true, File: "/b", Before: "x", After: "y"}
	f.record("edited", edit("one", "two"), &journal.Receipt{Receipt: done})
	f.record("failed", edit("one", "three"), &journal.Receipt{Failure: "not there"})
	f.record("unknown", edit("one", "four"), &journal.Receipt{Failure: "lost", Unknown: true})
	f.record("unreported", edit("one", "five"), nil)
	f.record("shown", `(:type :request :target :emacs :payload (:action :message :text "hi"))`, &journal.Receipt{Receipt: done})
	f.record("written", `(:type :request :target :tool :payload (:action :call :tool "write" :args (:path "/c")))`, &journal.Receipt{Receipt: protocol.Receipt{
		Files: []protocol.FileChange{{File: "/c", Old: "a", New: "b", Created: true}, {File: "/d", Opaque: true}}}})
	f.record("ran", `(:type :request :target :shell :payload (:cmd "make"))`, &journal.Receipt{})
	all := f.changes(0)
	var lines []string
	for _, c := range all.Changes {
		lines = append(lines, fmt.Sprintf("%s %s %s>%s unsure=%t", c.Act, c.File, c.Old, c.New, c.Unsure))
	}
	want := "edited /b one>two unsure=false; unknown /a one>four unsure=true; unreported /a one>five unsure=true; written /c a>b unsure=false"
	if got := strings.Join(lines, "; "); got != want {
		t.Errorf("the changes are %s\nwant %s", got, want)
	}
	if got := strings.Join(all.Irreversible, "; "); !strings.Contains(got, "The change of /d") || !strings.Contains(got, "Run make") || len(all.Irreversible) != 2 {
		t.Errorf("the irreversible effects are %s", got)
	}
	if from := f.changes(3); len(from.Changes) != 1 || from.Changes[0].Act != "written" {
		t.Errorf("from the third on: %+v", from)
	}
}

// The acts that a person undid are recorded, and listed as undone. An unknown id records nothing.
func TestRecord(t *testing.T) {
	f := newFixture(t)
	f.record("one", edit("a", "b"), &journal.Receipt{Receipt: protocol.Receipt{Done: true}})
	turn, err := f.Turns.Turn(t.Context(), "turn")
	if err != nil {
		t.Fatal(err)
	}
	if err := undo.Record(t.Context(), undo.Journal{Acts: f.Acts, Rows: f.Records}, turn, []string{"one", "nothing"}); protocol.ErrorCode(err) != protocol.CodeNotFound {
		t.Errorf("an unknown act: %v", err)
	}
	if f.changes(0).Changes[0].Undone != "" {
		t.Error("an act was recorded although another id is unknown")
	}
	if err := undo.Record(t.Context(), undo.Journal{Acts: f.Acts, Rows: f.Records}, turn, []string{"one"}); err != nil || f.changes(0).Changes[0].Undone == "" {
		t.Errorf("the undo is not recorded: %v", err)
	}
}

// A page is bounded in bytes, and the pages together have every change.
func TestPages(t *testing.T) {
	f := newFixture(t)
	for i := range 5 {
		f.record(fmt.Sprint("act-", i), edit(strings.Repeat("x", undo.PageBytes/2), "y"), &journal.Receipt{})
	}
	seen, from := 0, 0
	for pages := 0; ; pages++ {
		page := f.changes(from)
		if seen += len(page.Changes); page.Next == 0 || pages > 5 {
			break
		}
		from = page.Next
	}
	if seen != 5 || from == 0 {
		t.Errorf("%d changes came, the last page from %d on", seen, from)
	}
}
