package explain_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"org-agent/kernel/act"
	"org-agent/kernel/explain"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
)

// hostile are pieces of text that Org or a terminal would act on.
var hostile = []string{
	"* a heading", "** COMMENT x", "#+TBLFM: @1=3", "#+end_example", "#+begin_src sh", "src_sh{ls}", "[[elisp:(ding)][x]]", "<2026-01-01 Thu>",
	":PROPERTIES:", ":ID: x", "# Local Variables:", "{{{x}}}", "call_x()", "%%(diary)", "| =1+1 |", "SCHEDULED: <2026-01-01>", ":user:", "x :agent:",
	"\r\n", "\n\n\n", "\t", "\x00", "\xff", "é世", " ", "[fn:1] ", "\\begin{x}", "::", ",* x", ",,#+x", "shell:ls", "$x$", "- [ ] x", "=a=", "a", "*", "#+",
}

// builtIn are the kinds of actions that are built in.
var builtIn = kind.New(act.Kinds(act.Deps{})...)

func texts() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOfN(rapid.SampledFrom(append(hostile, "\n", "\n", " :robot:", ":robot:")), 0, 8), func(parts []string) string {
		return strings.Join(parts, "")
	}))
}

var kinds = []journal.Kind{
	journal.KindEvent, journal.KindChoice, journal.KindModelRequest, journal.KindModelReply, journal.KindProposal, journal.KindVerdict,
	journal.KindAct, journal.KindReceipt, journal.KindApproval, journal.KindDecision, journal.KindQuestion, journal.KindAnswer, journal.KindTurn, journal.KindNotice, journal.KindLog, journal.KindContext, journal.KindSteer, journal.KindPreference, "unheard-of",
}

// rows draws data as a row may have it: the fields of all kinds with texts of any sort, or
// of the wrong type, or no object at all.
func rows() *rapid.Generator[json.RawMessage] {
	return rapid.Custom(func(t *rapid.T) json.RawMessage {
		value := func(name string) any {
			switch rapid.IntRange(0, 5).Draw(t, name+" kind") {
			case 0:
				return rapid.IntRange(-2, 9).Draw(t, name)
			case 1:
				return []any{map[string]any{"role": texts().Draw(t, name), "content": texts().Draw(t, name), "name": texts().Draw(t, name), "hash": texts().Draw(t, name)}}
			}
			return texts().Draw(t, name)
		}
		if rapid.IntRange(0, 9).Draw(t, "whole") == 0 {
			return json.RawMessage(rapid.SampledFrom([]string{`null`, `[]`, `"x"`, `3`, `{}`}).Draw(t, "odd"))
		}
		object := map[string]any{}
		for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
			"text", "reason", "action", "skill", "file", "hash", "command", "verdict", "gate", "err", "state", "notice", "messages", "rivals", "faults",
			"system", "finish", "model", "edited", "decision", "kind", "client", "buffer", "failure", "sha256", "steps", "unusable", "sensor", "channel", "payload", "attempt", "form", "answers",
		}), 0, 8, rapid.ID[string]).Draw(t, "keys") {
			object[key] = value(key)
		}
		data, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		return data
	})
}

// TestOutlineIsInert: whatever a journal has, the outline runs nothing, has a heading for
// each row, and no heading that it did not make, and no heading has a tag.
func TestOutlineIsInert(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		told := explain.Trace{
			Named: journal.IDTarget{Kind: "turn", ID: "t"},
			Turn: journal.Turn{
				ID: "t", State: protocol.TurnState(texts().Draw(r, "state")), Question: protocol.Event{Text: texts().Draw(r, "question")},
				Skill: texts().Draw(r, "skill"), Model: texts().Draw(r, "model"), Notice: texts().Draw(r, "notice"), Started: time.Now(), Attempt: 2,
			},
		}
		count := rapid.IntRange(0, 6).Draw(r, "rows")
		for i := range count {
			told.Entries = append(told.Entries, journal.Entry{
				Seq: int64(i), Kind: rapid.SampledFrom(kinds).Draw(r, "kind"), ID: texts().Draw(r, "id"), Data: rows().Draw(r, "data"), Time: time.Now(),
			})
		}
		outline := told.Outline(builtIn)
		if ok, why := org.IsInert(outline); !ok {
			r.Fatalf("%s in\n%s", why, outline)
		}
		headings := 0
		for _, l := range strings.Split(outline, "\n") {
			if strings.HasPrefix(l, "* ") {
				headings++
			}
		}
		document := org.Parse(outline)
		parsed := 0
		for _, h := range document.Headings {
			if h.Level == 1 {
				parsed++
			}
			if len(h.Tags) > 0 { // whatever tag the person has chosen for tasks
				r.Fatalf("the heading on line %d has the tags %v in\n%s", h.Line, h.Tags, outline)
			}
		}
		if headings < 1+count || parsed != headings {
			r.Fatalf("%d rows, %d headings, %d as Org reads it, in\n%s", count, headings, parsed, outline)
		}
	})
}

// TestNotesBelowTheRoot: the place of a note is a link, unless Emacs would take it for one on another machine.
func TestNotesBelowTheRoot(t *testing.T) {
	for file, want := range map[string]string{"/home/me/a.org": "[[file:/home/me/a.org::7][a.org:7]]", "/": "- Note :: /:7", "//host/a.org": "- Note :: //host/a.org:7", "/a.org": "a.org"} {
		data, err := json.Marshal(map[string]any{"skill": "a", "file": file, "line": 7})
		if err != nil {
			t.Fatal(err)
		}
		outline := explain.Trace{Entries: []journal.Entry{{Kind: journal.KindChoice, Data: data}}}.Outline(builtIn)
		if ok, why := org.IsInert(outline); !ok || !strings.Contains(outline, want) {
			t.Errorf("of %s: %s in\n%s", file, why, outline)
		}
	}
}

// TestOutlineIsBounded: a turn of any size comes to an outline that fits a frame, and
// says that it is not whole.
func TestOutlineIsBounded(t *testing.T) {
	told := explain.Trace{}
	for i := range 40 {
		data, _ := json.Marshal(map[string]any{"text": strings.Repeat(fmt.Sprint("line ", i, "\n* x é\n"), 100_000)})
		told.Entries = append(told.Entries, journal.Entry{Kind: journal.KindModelReply, Data: data})
	}
	outline := told.Outline(builtIn)
	if len(outline) > 4<<20 || !strings.Contains(outline, "why --json") {
		t.Errorf("an outline of %d bytes", len(outline))
	}
	if ok, why := org.IsInert(outline); !ok {
		t.Error(why)
	}
}

// TestRead: an id of any thing of the turn, and the beginning of one, tells the same.
func TestRead(t *testing.T) {
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for _, id := range []string{"q1", "q2"} {
		if _, _, err := j.Turns.Accept(t.Context(), protocol.Event{ID: id, Session: "main", Text: "hello " + id, Sensor: protocol.SensorChatMessage}, "turn-"+id); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Acts.PutAct(t.Context(), journal.Act{ID: "answer", Session: "main", Turn: "turn-q1", Kind: journal.ActAnswer}); err != nil {
		t.Fatal(err)
	}
	reader := explain.Reader{Rows: j.Records, Turns: j.Turns}
	for _, id := range []string{"q1", "turn-q1", "answer", "ans", " id:answer\n"} {
		told, err := reader.Read(t.Context(), id)
		if err != nil || told.Turn.ID != "turn-q1" || len(told.Entries) != 2 || !strings.Contains(told.Outline(builtIn), "hello q1") {
			t.Errorf("%q: %+v, %v", id, told, err)
		}
	}
	for id, code := range map[string]protocol.Code{"turn": protocol.CodeConflict, "q": protocol.CodeConflict, "x": protocol.CodeNotFound, "": protocol.CodeInvalidParams, "a b": protocol.CodeInvalidParams} {
		if _, err := reader.Read(t.Context(), id); protocol.ErrorCode(err) != code {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// TestReadOfCopies: why follows a fork, and a fork of a fork, to what happened; what the
// parent did after the fork is not the copy's story, and what the copy did itself is.
func TestReadOfCopies(t *testing.T) {
	ctx := t.Context()
	j, err := journal.Open(ctx, filepath.Join(t.TempDir(), "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	reader := explain.Reader{Rows: j.Records, Turns: j.Turns}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	note := func(turn, text string) {
		t.Helper()
		_, err := j.Records.Append(ctx, journal.Entry{Kind: journal.KindNotice, Turn: turn, Session: "main", Data: json.RawMessage(`"` + text + `"`)})
		must(err)
	}
	turn, _, err := j.Turns.Accept(ctx, protocol.Event{ID: "q", Session: "main", Text: "hello", Sensor: protocol.SensorChatMessage}, "t")
	must(err)
	note("t", "asked in main")
	turn, err = j.Turns.SetTurn(ctx, journal.TurnChange{ID: "t", State: protocol.TurnAnswered})
	must(err)
	fork := func(session, parent, id string) {
		t.Helper()
		copied := turn
		copied.ID, copied.Event = id, id+"-question"
		must(j.Sessions.Fork(ctx, journal.Fork{Session: session, Parent: parent, Copies: []journal.Copy{{Turn: copied, Origin: turn.ID,
			Acts: []journal.Act{{ID: id + "-answer", Kind: journal.ActAnswer}}}}}))
		turn, err = j.Turns.Turn(ctx, id)
		must(err)
	}
	fork("child", "main", "c1")
	note("t", "later in main")
	_, err = j.Turns.Retry(ctx, "c1", "", nil)
	must(err)
	note("c1", "again in the child")
	turn, err = j.Turns.SetTurn(ctx, journal.TurnChange{ID: "c1", State: protocol.TurnAnswered})
	must(err)
	fork("grandchild", "child", "c2")
	note("c1", "later in the child")

	for id, want := range map[string]string{
		"q":         "asked in main, later in main",
		"c1-answer": "asked in main, again in the child, later in the child",
		"c2-answer": "asked in main, again in the child",
	} {
		told, err := reader.Read(ctx, id)
		must(err)
		var said []string
		events := 0
		for _, e := range told.Entries {
			if e.Kind == journal.KindEvent {
				events++
			}
			if e.Kind == journal.KindNotice {
				said = append(said, strings.Trim(string(e.Data), `"`))
			}
		}
		if got := strings.Join(said, ", "); got != want {
			t.Errorf("%s: %s, not %s", id, got, want)
		}
		if events != 1 {
			t.Errorf("%s: its event is told %d times", id, events)
		}
		outline := told.Outline(builtIn)
		if strings.Contains(outline, "the turn t of the conversation main") != (id != "q") {
			t.Errorf("%s comes from elsewhere, or not:\n%s", id, outline)
		}
	}
}

// TestMissingPart: what the archive does not have any more is named, and what is left of a request is shown.
func TestMissingPart(t *testing.T) {
	gone := `"Missing":"the file was removed"`
	outline := explain.Trace{Entries: []journal.Entry{
		{Kind: journal.KindModelReply, Data: json.RawMessage(`{"taken":3,"Archived":"abc",` + gone + `}`)},
		{Kind: journal.KindModelRequest, Data: json.RawMessage(`{"Messages":[{"Role":"user","Content":"the last words"}],` + gone + `}`)},
	}}.Outline(builtIn)
	for _, want := range []string{"model-reply that is not here", "the last words", "Not whole"} {
		if !strings.Contains(outline, want) {
			t.Errorf("there is no %q in\n%s", want, outline)
		}
	}
	if n := strings.Count(outline, "the file was removed"); n != 2 || strings.Contains(outline, "Model replied") {
		t.Errorf("it is said %d times in\n%s", n, outline)
	}
}
