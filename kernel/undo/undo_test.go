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

// house is a journal with one turn.
type house struct {
	*journal.Journal
	t *testing.T
}

func newHouse(t *testing.T) house {
	t.Helper()
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	if _, _, err := j.Turns.Accept(t.Context(), protocol.Event{ID: "q", Session: "main", Sensor: protocol.SensorChatMessage, Level: 1, Text: "go"}, "turn"); err != nil {
		t.Fatal(err)
	}
	return house{j, t}
}

// did notes an act, and its receipt unless that is nil.
func (h house) did(id, action string, receipt *journal.Receipt) {
	h.t.Helper()
	if err := h.Acts.PutAct(h.t.Context(), journal.Act{ID: id, Session: "main", Turn: "turn", Event: "q", Kind: journal.ActAction, Action: action}); err != nil {
		h.t.Fatal(err)
	}
	if receipt == nil {
		return
	}
	if err := h.Acts.PutReceipt(h.t.Context(), id, *receipt); err != nil {
		h.t.Fatal(err)
	}
}

func (h house) changes(from int) undo.Changes {
	h.t.Helper()
	all, err := undo.Read(h.t.Context(), undo.Journal{Acts: h.Acts, Rows: h.Records}, kinds, "turn", from)
	if err != nil {
		h.t.Fatal(err)
	}
	return all
}

func edit(old, now string) string {
	return fmt.Sprintf(`(:type :request :target :emacs :payload (:action :edit :file "/a" :old %q :new %q))`, old, now)
}

// Each kind says what of it can be taken back; what failed is nothing, and of what nobody knows is
// said so.
func TestChanges(t *testing.T) {
	h := newHouse(t)
	done := protocol.Receipt{Done: true, File: "/b", Before: "x", After: "y"}
	h.did("edited", edit("one", "two"), &journal.Receipt{Receipt: done})
	h.did("failed", edit("one", "three"), &journal.Receipt{Failure: "not there"})
	h.did("unknown", edit("one", "four"), &journal.Receipt{Failure: "lost", Unknown: true})
	h.did("untold", edit("one", "five"), nil)
	h.did("shown", `(:type :request :target :emacs :payload (:action :message :text "hi"))`, &journal.Receipt{Receipt: done})
	h.did("written", `(:type :request :target :tool :payload (:action :call :tool "write" :args (:path "/c")))`, &journal.Receipt{Receipt: protocol.Receipt{
		Files: []protocol.FileChange{{File: "/c", Old: "a", New: "b", Created: true}, {File: "/d", Opaque: true}}}})
	h.did("ran", `(:type :request :target :shell :payload (:cmd "make"))`, &journal.Receipt{})
	all := h.changes(0)
	var told []string
	for _, c := range all.Changes {
		told = append(told, fmt.Sprintf("%s %s %s>%s unsure=%t", c.Act, c.File, c.Old, c.New, c.Unsure))
	}
	want := "edited /b one>two unsure=false; unknown /a one>four unsure=true; untold /a one>five unsure=true; written /c a>b unsure=false"
	if got := strings.Join(told, "; "); got != want {
		t.Errorf("the changes are %s\nwant %s", got, want)
	}
	if got := strings.Join(all.Stays, "; "); !strings.Contains(got, "The change of /d") || !strings.Contains(got, "Run make") || len(all.Stays) != 2 {
		t.Errorf("what stays is %s", got)
	}
	if from := h.changes(3); len(from.Changes) != 1 || from.Changes[0].Act != "written" {
		t.Errorf("from the third on: %+v", from)
	}
}

// What a person took back is noted, for acts of the turn only, and then told.
func TestNote(t *testing.T) {
	h := newHouse(t)
	h.did("one", edit("a", "b"), &journal.Receipt{Receipt: protocol.Receipt{Done: true}})
	turn, err := h.Turns.Turn(t.Context(), "turn")
	if err != nil {
		t.Fatal(err)
	}
	if err := undo.Note(t.Context(), undo.Journal{Acts: h.Acts, Rows: h.Records}, turn, []string{"one", "nothing"}); protocol.ErrorCode(err) != protocol.CodeNotFound {
		t.Errorf("an act that is none: %v", err)
	}
	if h.changes(0).Changes[0].Undone != "" {
		t.Error("half of it was noted")
	}
	if err := undo.Note(t.Context(), undo.Journal{Acts: h.Acts, Rows: h.Records}, turn, []string{"one"}); err != nil || h.changes(0).Changes[0].Undone == "" {
		t.Errorf("it was not noted: %v", err)
	}
}

// An answer has so many bytes of texts, and says where to go on.
func TestLongChangesComeInParts(t *testing.T) {
	h := newHouse(t)
	for i := range 5 {
		h.did(fmt.Sprint("act-", i), edit(strings.Repeat("x", undo.Bytes/2), "y"), &journal.Receipt{})
	}
	seen, from := 0, 0
	for parts := 0; ; parts++ {
		part := h.changes(from)
		if seen += len(part.Changes); part.Next == 0 || parts > 5 {
			break
		}
		from = part.Next
	}
	if seen != 5 || from == 0 {
		t.Errorf("%d changes came, the last part from %d on", seen, from)
	}
}
