package session

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"org-agent/kernel/journal"
	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
)

// Fork makes a session of the conversation up to a question or an answer. The turns are copied under
// new ids, because an :ID: is unique among files. So the model's history, the file, search and retries
// of the new session are independent of the parent; [journal.Turn.Origin] names the original of a
// turn. Changes of a person in the file are not copied. The journal has the whole fork or nothing of
// it. Then the file is written. If the kernel is killed before, the first client receives the whole
// conversation.
func (h *Sessions) Fork(ctx context.Context, p protocol.SessionForkParams) (protocol.SessionForkResult, error) {
	f := forker{journal: h.config.Journal, newID: h.config.NewID, closed: h.config.replaceClosedAsks}
	at, err := f.point(ctx, p)
	if err == nil && p.Session != "" && p.Session != at.session {
		err = protocol.Errorf(protocol.CodeNotFound, "%s is of the conversation %q, not of %q", p.ID, at.session, p.Session)
	}
	if err != nil {
		return protocol.SessionForkResult{}, err
	}
	parent, err := h.use(at.session)
	if err != nil {
		return protocol.SessionForkResult{}, err
	}
	defer parent.release()
	fork, text, err := f.copies(ctx, at)
	if err != nil {
		return protocol.SessionForkResult{}, err
	}
	if fork.Session, err = h.forkName(ctx, at.session, p.To); err != nil {
		return protocol.SessionForkResult{}, err
	}
	if err := h.config.Journal.Sessions.Fork(ctx, fork); err != nil {
		return protocol.SessionForkResult{}, err
	}
	result := protocol.SessionForkResult{Session: fork.Session, File: h.directory.file(fork.Session), Turns: len(fork.Copies), Draft: at.draft}
	if result.File != "" {
		if err := replaceFile(result.File, nil, text+org.Draft(at.draft)); err != nil {
			h.config.Logger.Error("the file of a fork not written, its first client writes it", "session", fork.Session, "err", err)
		}
	}
	return result, nil
}

// forker makes the copies of a fork.
type forker struct {
	journal Journal
	newID   func() string
	closed  func(ctx context.Context, acts []journal.Act) error // replaces the texts of closed asks
}

// forkPoint is the place in a conversation at which it is forked.
type forkPoint struct {
	session string
	id      string // of the heading
	last    int64  // the turn that is the last, by its Seq
	act     string // the answer that is the last; "" for all of the last turn
	draft   string
}

// point finds the question or answer of the id, or the end of the session if there is no id.
func (f forker) point(ctx context.Context, p protocol.SessionForkParams) (forkPoint, error) {
	if p.ID == "" {
		name := sessionOrMain(p.Session)
		has, err := f.journal.Sessions.HasSession(ctx, name)
		if err == nil && !has {
			err = protocol.Errorf(protocol.CodeNotFound, "the conversation %q has no message", name)
		}
		return forkPoint{session: name, last: 1<<63 - 1}, err
	}
	turn, err := f.journal.Turns.TurnOfEvent(ctx, p.ID)
	if err == nil {
		return forkPoint{session: turn.Session, id: p.ID, last: turn.Seq - 1, draft: turn.Question.Text}, nil
	}
	if protocol.ErrorCode(err) != protocol.CodeNotFound {
		return forkPoint{}, err
	}
	act, err := f.journal.Acts.Act(ctx, p.ID)
	if protocol.ErrorCode(err) == protocol.CodeNotFound {
		return forkPoint{}, protocol.Errorf(protocol.CodeNotFound, "%s is the :ID: of no question and no answer", p.ID)
	}
	if err != nil {
		return forkPoint{}, err
	}
	turn, err = f.journal.Turns.Turn(ctx, act.Turn)
	return forkPoint{session: act.Session, id: p.ID, last: turn.Seq, act: act.ID}, err
}

// copies returns the turns up to the point under new ids, and the text of their file.
func (f forker) copies(ctx context.Context, at forkPoint) (journal.Fork, string, error) {
	fork := journal.Fork{Parent: at.session, At: at.id}
	text := ""
	ids := map[string]string{} // of questions and answers, what they are in the fork
	const pageSize = 200
	for after := int64(0); ; {
		turns, err := f.journal.Turns.List(ctx, at.session, after, pageSize)
		if err != nil {
			return fork, "", err
		}
		page := make([]string, len(turns))
		for i, t := range turns {
			page[i], after = t.ID, t.Seq
		}
		acts, err := f.journal.Acts.ActsOf(ctx, page...)
		if err == nil {
			err = f.closed(ctx, acts)
		}
		if err != nil {
			return fork, "", err
		}
		for _, t := range turns {
			if t.Seq > at.last {
				return fork, text, nil
			}
			own := slices.DeleteFunc(slices.Clone(acts), func(a journal.Act) bool { return a.Turn != t.ID })
			if c, ok := f.copy(t, own, at.act, ids); ok {
				text = addCopy(text, c)
				fork.Copies = append(fork.Copies, c)
			}
		}
		if len(turns) < pageSize {
			return fork, text, nil
		}
	}
}

// addCopy adds a turn to the text of a fork: at its end, or below its parent.
func addCopy(text string, c journal.Copy) string {
	if insertion, ok := org.InsertUnder(text, c.Turn.Parent, subtrees(c)); ok {
		return insertion.Apply(text)
	}
	return text + subtrees(c)
}

// copy returns a copy of a turn with its acts, up to the act last if that is one of them. It returns
// false if the turn shows nothing yet. It adds the new ids to ids, by the old ones.
func (f forker) copy(t journal.Turn, acts []journal.Act, last string, ids map[string]string) (journal.Copy, bool) {
	c := journal.Copy{Origin: t.ID, Turn: t, Answers: map[string]string{}}
	c.Turn.ID, c.Turn.Event, c.Turn.Saved = f.newID(), f.newID(), true
	c.Turn.Answer, c.Turn.Preferred = "", ""
	c.Turn.Replaces, c.Turn.Parent = ids[t.Replaces], ids[t.Parent]
	c.Turn.Question.Instead, c.Turn.Question.Parent = c.Turn.Replaces, c.Turn.Parent
	if cut := slices.IndexFunc(acts, func(a journal.Act) bool { return a.ID == last }); cut >= 0 {
		acts = acts[:cut+1]
		if c.Turn.Finished.IsZero() { // it is being answered again
			c.Turn.Finished = acts[cut].Time
		}
		c.Turn.State = protocol.TurnAnswered
		if acts[cut].Kind != journal.ActAnswer {
			c.Turn.State = protocol.TurnFailed
		}
	}
	renamed := map[string]string{t.Event: c.Turn.Event}
	for _, a := range acts {
		switch {
		case a.Kind == journal.ActAction:
			continue
		case a.Kind == journal.ActAsk && len(waitingIn(a.Text)) > 0:
			continue // it is decided where it was asked
		case a.Kind == journal.ActAsk:
			a.Kind = journal.ActNotice // what was decided; nobody asks here
		}
		id := f.newID()
		if a.Kind == journal.ActAnswer && c.Turn.State == protocol.TurnAnswered {
			c.Turn.Answer = id // the last one
		}
		if t.Preferred == a.ID {
			c.Turn.Preferred = id
		}
		if a.Kind == journal.ActAnswer {
			c.Answers[id] = a.ID
		}
		renamed[a.ID] = id
		a.Text, a.ID, a.Saved = replaceID(a.Text, a.ID, id), id, true
		c.Acts = append(c.Acts, a)
	}
	if !c.Turn.State.Final() || !t.Question.HasHeading() && len(c.Acts) == 0 {
		return c, false
	}
	maps.Copy(ids, renamed)
	return c, true
}

// subtrees returns the text of the turn in a file.
func subtrees(c journal.Copy) string {
	text := questionSubtree(c.Turn)
	for _, a := range c.Acts {
		text += withPreference(a, c.Turn)
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
	}
	return text
}

// replaceID changes the :ID: in the drawer of an answer's subtree.
func replaceID(text, old, id string) string {
	start := 0
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), ":ID:"); ok && strings.TrimSpace(value) == old {
			return text[:start] + strings.Replace(line, old, id, 1) + text[start+len(line):]
		}
		start += len(line)
	}
	return text
}

var forkSuffix = regexp.MustCompile(` fork( \d+)?$`)

// forkName returns the name of a fork: wanted, if it is free, or the first free one of "NAME fork",
// "NAME fork 2" and so on.
func (h *Sessions) forkName(ctx context.Context, parent, wanted string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if wanted != "" {
		if !protocol.ValidSession(wanted) {
			return "", protocol.Errorf(protocol.CodeInvalidParams,
				"%q is not a session name: use up to %d letters, digits, blanks and . _ -, and do not begin with a dot", wanted, protocol.SessionLimit)
		}
		return wanted, h.checkFree(ctx, wanted)
	}
	base := []rune(forkSuffix.ReplaceAllString(parent, ""))
	for n := 1; ; n++ {
		suffix := " fork"
		if n > 1 {
			suffix = fmt.Sprint(" fork ", n)
		}
		name := strings.TrimSpace(string(base[:min(len(base), protocol.SessionLimit-len(suffix))])) + suffix
		err := h.checkFree(ctx, name)
		if protocol.ErrorCode(err) != protocol.CodeConflict {
			return name, err
		}
	}
}
