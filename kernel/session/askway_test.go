package session_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
)

// TestAskGoesOneWay: an ask has the same fields in the journal, in what clients of its conversation
// receive and in the Emacs client.
func TestAskGoesOneWay(t *testing.T) {
	waits := make(chan struct{})
	var h *fixture
	var asks []protocol.Ask
	h = open(t, t.TempDir(), func(ctx context.Context, turn *session.Turn) session.Outcome {
		of := func(id string, sort protocol.AskSort) protocol.Ask {
			return protocol.Ask{ID: id, Sort: sort, Session: "main", Turn: turn.Record.ID, Event: turn.Record.Event, Opened: "2026-11-23T10:00:00Z",
				Subagent: "writer", Parent: "parent", PendingAction: protocol.PendingAction{Action: "(:type :log)"}}
		}
		approval, question := of("p1", protocol.AskApproval), of("f1", protocol.AskQuestion)
		approval.Hash, approval.Reason, approval.Summary = "h", "it writes", "Write"
		approval.Text, approval.Language, approval.Effects = strings.Repeat("x", protocol.AskTextLimit+1), "text", []string{"a file"}
		approval.Once, approval.Always = true, true
		approval.Reading = &protocol.ReadingOffer{Directory: "/home/me/x", Rows: []protocol.OfferedRow{{Rule: "reads", Matches: "~/x/**"}}}
		question.Form = &protocol.QuestionForm{Title: "How?", Fields: []protocol.FormField{{Name: "way", Kind: protocol.FieldText, Question: "Which way?"}}}
		question.Skill, question.Act = "chat", "act-1"
		asks = []protocol.Ask{approval, question}
		var err error
		for _, a := range asks {
			err = errors.Join(err, h.journal.Asks.PutAsk(ctx, a), turn.Ask(ctx, a))
		}
		close(waits)
		<-ctx.Done()
		return session.Outcome{State: protocol.TurnFailed, Notice: errors.Join(err, context.Cause(ctx)).Error()}
	})
	defer h.close(t)
	c := &client{id: "emacs", emacs: true}
	if _, err := h.Attach(t.Context(), c, protocol.SessionLoadParams{Session: "main"}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Submit(t.Context(), message("q", "do it")); err != nil {
		t.Fatal(err)
	}
	<-waits
	until(t, "both asks", func() bool { return count[protocol.Ask](c) == 2 })
	c.mu.Lock()
	var seen []protocol.Ask
	for _, n := range c.told {
		if a, ok := n.params.(protocol.Ask); ok {
			seen = append(seen, a)
		}
	}
	c.mu.Unlock()
	for i, a := range asks {
		kept, err := h.journal.Asks.Ask(t.Context(), a.ID)
		if err != nil || !reflect.DeepEqual(kept, a) {
			t.Errorf("the journal has %.300v, %v; what was asked is %.300v", kept, err, a)
		}
		want := a.Shortened()
		if want.Subtree = seen[i].Subtree; want.Subtree == "" || !reflect.DeepEqual(seen[i], want) {
			t.Errorf("a client received %.300v, not %.300v", seen[i], want)
		}
	}
	outcomes := []protocol.AskOutcome{
		{Decision: protocol.AllowOnce, Comment: "so", Edited: "(:type :log)", Client: "cli"},
		{Decision: protocol.Answered, Answers: []protocol.FieldAnswer{{Name: "way", Values: []string{"north"}}}, Client: "emacs"},
	}
	for i, a := range asks {
		decided, err := h.journal.Asks.Decide(t.Context(), a.ID, outcomes[i])
		if err != nil {
			t.Fatal(err)
		}
		kept, err := h.journal.Asks.Ask(t.Context(), a.ID)
		if err != nil || !reflect.DeepEqual(kept, decided) || !reflect.DeepEqual(kept.AskOutcome, outcomes[i]) || kept.Waits() {
			t.Errorf("the journal has %.300v, %v; what was decided is %.300v", kept, err, outcomes[i])
		}
		seen = append(seen, kept)
	}

	fields := map[string]bool{}
	for _, f := range jsonFields(reflect.TypeFor[protocol.Ask]()) {
		fields[name(f)] = true
		used := false
		for _, a := range seen {
			used = used || !reflect.ValueOf(a).FieldByIndex(f.Index).IsZero()
		}
		if !used {
			t.Errorf("the field %s of an ask is in nothing that was asked here", name(f))
		}
	}
	for _, kind := range []reflect.Type{reflect.TypeFor[protocol.AskClosed](), reflect.TypeFor[protocol.AskCheckResult]()} {
		for _, f := range jsonFields(kind) {
			fields[name(f)] = true
		}
	}
	key := regexp.MustCompile(`\(plist-get (?:approval|question|ask|asked|params) :([a-z-]+)\)`)
	found := map[string]bool{}
	for _, file := range []string{"asks", "approval", "question"} {
		source, err := os.ReadFile(filepath.Join("../../elisp", "org-agent-"+file+".el"))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range key.FindAllStringSubmatch(string(source), -1) {
			if found[match[1]] = true; !fields[match[1]] {
				t.Errorf("org-agent-%s.el reads :%s, which no ask has", file, match[1])
			}
		}
	}
	if len(found) < 15 {
		t.Errorf("the Emacs client reads %v only: the test looks for something else", found)
	}
	for _, row := range protocol.Methods() {
		if strings.HasPrefix(row.Name, "approval/") || strings.HasPrefix(row.Name, "question/") {
			t.Errorf("%s is a second way for what waits", row.Name)
		}
	}
}

// jsonFields are the fields of a struct, with those of embedded ones.
func jsonFields(of reflect.Type) (fields []reflect.StructField) {
	for _, f := range reflect.VisibleFields(of) {
		if !f.Anonymous {
			fields = append(fields, f)
		}
	}
	return fields
}

// name is what a field is called on the wire.
func name(f reflect.StructField) string {
	tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return tag
}
