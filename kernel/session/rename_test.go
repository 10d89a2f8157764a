package session_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
)

// say sends messages to main and waits until they are answered.
func (h *fixture) say(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if _, err := h.Submit(t.Context(), message(id, "text of "+id)); err != nil {
			t.Fatal(err)
		}
	}
	h.waitIdle(t)
}

func (h *fixture) waitIdle(t *testing.T) {
	t.Helper()
	until(t, "the queue", func() bool { _, running, queued := h.Counts(); return running+queued == 0 })
}

func (h *fixture) path(name string) string {
	return filepath.Join(h.directory, "sessions", name+".org")
}

func (h *fixture) rename(t *testing.T, from, to string) error {
	t.Helper()
	_, err := h.Rename(t.Context(), protocol.SessionRenameParams{Session: from, To: to})
	return err
}

func TestRename(t *testing.T) {
	h := open(t, t.TempDir(), echo)
	defer h.close(t)
	c := &client{id: "c1", emacs: true, saved: true}
	h.attach(t, c, protocol.SessionLoadParams{})
	h.say(t, "q1")
	if err := os.MkdirAll(filepath.Dir(h.path("main")), 0o755); err != nil {
		t.Fatal(err)
	}
	const text = "what the keeper saved"
	for _, name := range []string{"main", "taken"} {
		if err := os.WriteFile(h.path(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for to, want := range map[string]protocol.Code{
		"main": protocol.CodeConflict, "taken": protocol.CodeConflict, "../x": protocol.CodeInvalidParams, "": protocol.CodeInvalidParams,
	} {
		if err := h.rename(t, "main", to); protocol.ErrorCode(err) != want {
			t.Errorf("renamed to %q: %v", to, err)
		}
	}
	if err := h.rename(t, "never was", "new"); protocol.ErrorCode(err) != protocol.CodeNotFound {
		t.Errorf("renamed what is not there: %v", err)
	}
	if err := h.rename(t, "main", "A new name"); err != nil {
		t.Fatal(err)
	}
	if got := h.file(t, "A new name"); got != text || h.file(t, "main") != "" {
		t.Errorf("the file is %q, the old one %q", got, h.file(t, "main"))
	}
	told := 0
	each(c, func(p protocol.SessionRenamed) {
		told++
		if p != (protocol.SessionRenamed{Session: "main", To: "A new name", File: h.path("A new name")}) {
			t.Errorf("told %+v", p)
		}
	})
	if told != 1 {
		t.Errorf("told %d times", told)
	}
	// What was under way to the old name is of the session, as is who has not heard.
	h.say(t, "q2")
	if turn, err := h.journal.Turns.TurnOfEvent(t.Context(), "q2"); err != nil || turn.Session != "A new name" {
		t.Errorf("the turn is of %q, %v", turn.Session, err)
	}
	late := &client{id: "c2", emacs: true}
	if result := h.attach(t, late, protocol.SessionLoadParams{IDs: []string{"q1"}}); result.Session != "A new name" || result.Keeper || len(result.NeverReceived) > 0 {
		t.Errorf("who has not heard gets %+v", result)
	}
	// A new conversation may have the old name.
	fresh := &client{id: "c3", emacs: true}
	if result := h.attach(t, fresh, protocol.SessionLoadParams{}); result.Session != "main" || !result.Keeper {
		t.Errorf("a new conversation gets %+v", result)
	}
	h.say(t, "q3")
	if count[protocol.TurnFinished](fresh) != 1 || count[protocol.TurnFinished](c) != 2 {
		t.Errorf("the new one was told of %d turns, the renamed one of %d", count[protocol.TurnFinished](fresh), count[protocol.TurnFinished](c))
	}
	h.Leave(c, "A new name")
	h.Detach(late)
	h.Detach(fresh)
	until(t, "the closing", func() bool { open, _, _ := h.Counts(); return open == 0 })
}

func TestRenameWaitsForNoTurn(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	h := open(t, t.TempDir(), func(ctx context.Context, turn *session.Turn) session.Outcome {
		close(begun)
		<-end
		return echo(ctx, turn)
	})
	defer h.close(t)
	if _, err := h.Submit(t.Context(), message("q1", "text")); err != nil {
		t.Fatal(err)
	}
	<-begun
	if err := h.rename(t, "main", "other"); protocol.ErrorCode(err) != protocol.CodeBusy {
		t.Errorf("renamed while a turn runs: %v", err)
	}
	close(end)
	h.waitIdle(t)
	if err := h.rename(t, "main", "other"); err != nil {
		t.Error(err)
	}
	if text := h.file(t, "other"); strings.Count(text, "Answer to text") != 1 {
		t.Errorf("the file is %q", text)
	}
}

// TestRenameIsFinished: a kernel that was killed between the journal and the file moves
// the file when it starts, also when the file has both names.
func TestRenameIsFinished(t *testing.T) {
	for _, both := range []bool{false, true} {
		h := open(t, t.TempDir(), echo)
		h.say(t, "q1")
		text := h.file(t, "main")
		if _, err := h.journal.Sessions.Rename(t.Context(), "main", "other"); err != nil {
			t.Fatal(err)
		}
		if both {
			if err := os.Link(h.path("main"), h.path("other")); err != nil {
				t.Fatal(err)
			}
		}
		if err := h.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		if h.file(t, "other") != text || h.file(t, "main") != "" {
			t.Errorf("the files are %q and %q", h.file(t, "other"), h.file(t, "main"))
		}
		if pending, err := h.journal.Sessions.PendingMoves(t.Context()); len(pending) > 0 || err != nil {
			t.Errorf("unmoved: %v, %v", pending, err)
		}
		h.close(t)
	}
}

// TestRenameThatCannotMoveTheFile: then nothing has changed.
func TestRenameThatCannotMoveTheFile(t *testing.T) {
	h := open(t, t.TempDir(), echo)
	defer h.close(t)
	h.say(t, "q1")
	text := h.file(t, "main")
	// A directory cannot be linked, and its place taken by a link that leads nowhere.
	if err := os.Rename(h.path("main"), h.path("kept")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(h.path("main"), "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", h.path("other")); err != nil {
		t.Fatal(err)
	}
	if err := h.rename(t, "main", "other"); protocol.ErrorCode(err) != protocol.CodeConflict {
		t.Errorf("took the place of a link: %v", err)
	}
	if h.file(t, "kept") != text {
		t.Error("the file changed")
	}
	if has, err := h.journal.Sessions.HasSession(t.Context(), "main"); !has || err != nil {
		t.Errorf("the session lost its name: %v", err)
	}
}

func TestFork(t *testing.T) {
	h := open(t, t.TempDir(), echo)
	defer h.close(t)
	h.say(t, "q1", "q2", "q3")
	fork := func(id, to string) protocol.SessionForkResult {
		t.Helper()
		result, err := h.Fork(t.Context(), protocol.SessionForkParams{ID: id, To: to})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	answer := ""
	if acts, err := h.journal.Acts.ActsOf(t.Context(), mustTurn(t, h, "q2")); err != nil || len(acts) != 1 {
		t.Fatalf("%v, %v", acts, err)
	} else {
		answer = acts[0].ID
	}

	at := fork(answer, "")
	if at.Session != "main fork" || at.Turns != 2 || at.Draft != "" {
		t.Errorf("forked at an answer: %+v", at)
	}
	parent, child := h.file(t, "main"), h.file(t, "main fork")
	if want := parent[:strings.Index(parent, "* text of q3")] + "* "; withoutIDs(child) != withoutIDs(want) {
		t.Errorf("the fork's file is\n%s\nwant\n%s", child, want)
	}
	for _, id := range idsOf(parent) {
		if slices.Contains(idsOf(child), id) {
			t.Errorf("the :ID: %s stands in both files", id)
		}
	}
	c := &client{id: "c1", emacs: true}
	result, err := h.Attach(t.Context(), c, protocol.SessionLoadParams{Session: "main fork", IDs: idsOf(child)})
	if err != nil || len(result.NeverReceived) > 0 || count[protocol.StoredTurn](c) > 0 {
		t.Errorf("the fork's own file is not what the journal has: %+v, %d turns sent, %v", result, count[protocol.StoredTurn](c), err)
	}

	question := fork("q2", "edited")
	if question.Draft != "text of q2" || question.Turns != 1 || !strings.HasSuffix(h.file(t, "edited"), "\n* text of q2") {
		t.Errorf("forked at a question: %+v\n%s", question, h.file(t, "edited"))
	}
	first := fork("q1", "empty")
	if first.Turns != 0 || h.file(t, "empty") != "* text of q1" {
		t.Errorf("forked at the first question: %+v\n%s", first, h.file(t, "empty"))
	}
	whole := fork("", "")
	if whole.Session != "main fork 2" || whole.Turns != 3 {
		t.Errorf("forked as a whole: %+v", whole)
	}
	for id, want := range map[string]protocol.Code{"missing": protocol.CodeNotFound} {
		if _, err := h.Fork(t.Context(), protocol.SessionForkParams{ID: id}); protocol.ErrorCode(err) != want {
			t.Errorf("%q: %v", id, err)
		}
	}
	for to, want := range map[string]protocol.Code{"main": protocol.CodeConflict, "edited": protocol.CodeConflict, ".hidden": protocol.CodeInvalidParams} {
		if _, err := h.Fork(t.Context(), protocol.SessionForkParams{ID: "q2", To: to}); protocol.ErrorCode(err) != want {
			t.Errorf("fork to %q: %v", to, err)
		}
	}
	if _, err := h.Fork(t.Context(), protocol.SessionForkParams{Session: "nobody"}); protocol.ErrorCode(err) != protocol.CodeNotFound {
		t.Errorf("forked what is not there: %v", err)
	}
	// The fork goes on by itself, with what was said before it.
	e := message("mine", "mine")
	e.Session = "main fork"
	if _, err := h.Submit(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	h.waitIdle(t)
	history, err := h.journal.Transcripts.History(t.Context(), "main fork", "", 0)
	if err != nil || len(history) != 3 || history[0].Question != "text of q1" || history[2].Answer != "Answer to mine" {
		t.Errorf("the history of the fork is %v, %v", history, err)
	}
	if parent != h.file(t, "main") {
		t.Error("the parent's file changed")
	}
	h.Detach(c)
}

// TestForkOfWhatWasAskedAndPreferred: what a person decided stands in the fork as it was
// decided, whether its file is written or a client's buffer filled, what still waits does
// not, and the answer that was preferred has the mark.
func TestForkOfWhatWasAskedAndPreferred(t *testing.T) {
	wait := make(chan struct{})
	var h *fixture
	h = open(t, t.TempDir(), func(ctx context.Context, turn *session.Turn) session.Outcome {
		approval := protocol.Ask{ID: "approval-" + turn.Record.Event, Sort: protocol.AskApproval, Session: "main", Turn: turn.Record.ID, Event: turn.Record.Event,
			PendingAction: protocol.PendingAction{Action: "(:type :request)", Hash: "h", Reason: "it asks", Summary: "Do it"}}
		err := errors.Join(h.journal.Asks.PutAsk(ctx, approval), turn.Ask(ctx, approval))
		if turn.Record.Event == "q2" {
			<-wait
		}
		_, decided := h.journal.Asks.Decide(ctx, approval.ID, protocol.AskOutcome{Decision: protocol.AllowOnce, Client: "emacs"})
		turn.AskClosed(ctx, approval.ID)
		if err := errors.Join(err, decided); err != nil {
			return session.Outcome{State: protocol.TurnFailed, Notice: err.Error()}
		}
		return echo(ctx, turn)
	})
	defer h.close(t)
	h.say(t, "q1")
	acts, err := h.journal.Acts.ActsOf(t.Context(), mustTurn(t, h, "q1"))
	if err != nil || len(acts) != 2 {
		t.Fatalf("%v, %v", acts, err)
	}
	if _, err := h.Prefer(t.Context(), protocol.TurnPreferParams{ID: acts[1].ID}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Submit(t.Context(), message("q2", "text of q2")); err != nil {
		t.Fatal(err)
	}
	until(t, "the second approval", func() bool { pending, _ := h.journal.Asks.OpenAsks(t.Context()); return len(pending) == 1 })
	if _, err := h.Fork(t.Context(), protocol.SessionForkParams{Session: "main", To: "fork"}); err != nil {
		t.Fatal(err)
	}
	close(wait)
	h.waitIdle(t)
	written := h.file(t, "fork")
	if !strings.Contains(written, "** DONE Approved once: Do it") || strings.Contains(written, "TODO") || strings.Contains(written, "approval-q1") {
		t.Errorf("what was decided is not told as that:\n%s", written)
	}
	if strings.Count(written, "\n:PREFERRED: t\n:END:\n") != 1 {
		t.Errorf("the preferred answer has no mark:\n%s", written)
	}
	if err := os.Remove(h.path("fork")); err != nil {
		t.Fatal(err)
	}
	c := &client{id: "c1", emacs: true}
	if _, err := h.Attach(t.Context(), c, protocol.SessionLoadParams{Session: "fork"}); err != nil {
		t.Fatal(err)
	}
	text := ""
	each(c, func(kept protocol.StoredTurn) { text += kept.Question + kept.Answer })
	if text+"* " != written {
		t.Errorf("a client is shown\n%s\nand the file had\n%s", text, written)
	}
	h.Detach(c)
}

// TestForkWithoutFile: a fork whose file was never written is shown by its first client.
func TestForkWithoutFile(t *testing.T) {
	h := open(t, t.TempDir(), echo)
	defer h.close(t)
	h.say(t, "q1", "q2")
	if _, err := h.Fork(t.Context(), protocol.SessionForkParams{Session: "main", To: "fork"}); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(h.path("fork")); err != nil {
		t.Fatal(err)
	}
	c := &client{id: "c1", emacs: true}
	if _, err := h.Attach(t.Context(), c, protocol.SessionLoadParams{Session: "fork"}); err != nil {
		t.Fatal(err)
	}
	if n := count[protocol.StoredTurn](c); n != 2 {
		t.Errorf("%d turns were sent, want 2", n)
	}
	h.Detach(c)
}

func mustTurn(t *testing.T, h *fixture, event string) string {
	t.Helper()
	turn, err := h.journal.Turns.TurnOfEvent(t.Context(), event)
	if err != nil {
		t.Fatal(err)
	}
	return turn.ID
}

// idsOf are the :ID:s of a conversation.
func idsOf(text string) (ids []string) {
	for line := range strings.Lines(text) {
		if id, ok := strings.CutPrefix(line, ":ID:"); ok {
			ids = append(ids, strings.TrimSpace(id))
		}
	}
	return ids
}

var idLine = regexp.MustCompile(`(?m)^:ID: .*$`)

func withoutIDs(text string) string { return idLine.ReplaceAllString(text, ":ID:") }
