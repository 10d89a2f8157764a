package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// Approvals and questions to a person stand below the turn's question, in every client that
// shows the conversation and in its file. Each is an act, as an answer is, so that it is there
// exactly once, whatever is killed when. When it is closed its subtree becomes one heading.

// Ask shows an approval below the question. The approval of that id is there already when
// the last kernel asked.
func (t *Turn) Ask(ctx context.Context, approval protocol.Approval) error {
	if err := t.ask(ctx, approval.ID, approvalSubtree(t.Record.Level, approval)); err != nil {
		return err
	}
	shown, err := t.session.sessions.shown(ctx, approval)
	if err != nil {
		return err
	}
	t.session.unattended.Store(t.Record.Question.Route.Unattended())
	t.session.tellAsked(protocol.MethodApprovalAsked, shown)
	return nil
}

// shown is a pending approval as clients of its conversation receive it.
func (h *Sessions) shown(ctx context.Context, approval protocol.Approval) (protocol.Approval, error) {
	approval = approval.Shown()
	act, err := h.config.Journal.Act(ctx, approval.ID)
	if err != nil && protocol.ErrorCode(err) != protocol.CodeNotFound {
		return approval, fmt.Errorf("look for what is shown: %w", err)
	}
	approval.Subtree = act.Text // "" for an approval of an earlier version
	return approval, nil
}

// Remind notifies a client that attaches to a session of the approvals and questions that wait
// there.
func (h *Sessions) Remind(ctx context.Context, client Client, session string) error {
	pending, err := h.config.Journal.Pending(ctx)
	if err != nil {
		return err
	}
	s, err := h.use(session)
	if err != nil {
		return err
	}
	defer s.release()
	for _, approval := range pending {
		if approval.Session != session {
			continue
		}
		shown, err := h.shown(ctx, approval)
		if err != nil {
			return err
		}
		client.Notify(protocol.MethodApprovalAsked, shown)
		s.showClosed(ctx, client, approval.ID) // if it was closed since it was looked for
	}
	return s.remindQuestions(ctx, client)
}

func (t *Turn) ask(ctx context.Context, id, subtree string) error {
	act := journal.Act{
		ID: id, Session: t.session.name(), Turn: t.Record.ID, Event: t.Record.Event, Kind: journal.ActAsk, Text: subtree,
	}
	err := t.session.keep(ctx, func() error { return t.session.sessions.config.Journal.PutAct(ctx, act) })
	switch {
	case protocol.ErrorCode(err) == protocol.CodeConflict: // the last kernel showed it
		return nil
	case err != nil:
		return fmt.Errorf("show what waits for a person: %w", err)
	}
	t.session.send(ctx, act, t.Record)
	return nil
}

// Asked shows that the approval or question of this id is closed.
func (t *Turn) Asked(ctx context.Context, id string) {
	t.session.showClosed(context.WithoutCancel(ctx), nil, id)
	t.session.reconcileUnkept(ctx)
}

// showClosed notifies one client, or all with nil, that the approval or question of this id is
// closed. It does nothing while it is open.
func (s *Session) showClosed(ctx context.Context, client Client, id string) {
	ask, err := s.readAsk(ctx, id)
	if err != nil {
		s.logger().Error("what was asked is not shown as closed", "id", id, "err", err)
	}
	if err != nil || !ask.closed {
		return
	}
	if client != nil {
		client.Notify(ask.method, ask.params)
		return
	}
	s.tellAsked(ask.method, ask.params)
}

// An ask is an approval or a question, open or closed.
type ask struct {
	closed  bool
	waiting string // its subtree while it waits
	subtree string // and when it is closed
	method  string // the notification that says so
	params  any
}

// readAsk reads the approval or question of this id.
func (s *Session) readAsk(ctx context.Context, id string) (ask, error) {
	j := s.sessions.config.Journal
	approval, err := j.Approval(ctx, id)
	if protocol.ErrorCode(err) == protocol.CodeNotFound {
		return s.question(ctx, id)
	}
	if err != nil {
		return ask{}, fmt.Errorf("look for what was asked: %w", err)
	}
	record, err := j.Turn(ctx, approval.Turn)
	if err != nil {
		return ask{}, fmt.Errorf("look for who asked: %w", err)
	}
	a := ask{closed: !approval.Closed.IsZero(), waiting: approvalSubtree(record.Level, approval.Approval)}
	if !a.closed {
		return a, nil
	}
	if act, err := j.Act(ctx, id); err == nil {
		a.waiting = act.Text
	}
	a.subtree = approvalClosed(record.Level, approval)
	a.method = protocol.MethodApprovalClosed
	a.params = protocol.ApprovalClosed{
		ID: id, Session: s.name(), Turn: approval.Turn, Decision: approval.Decision, Client: approval.Client,
		Waiting: a.waiting, Subtree: a.subtree,
	}
	return a, nil
}

// present replaces the texts of asks that are closed by their closed subtrees.
func (s *Session) present(ctx context.Context, acts []journal.Act) error {
	for i, a := range acts {
		if a.Kind != journal.ActAsk {
			continue
		}
		ask, err := s.readAsk(ctx, a.ID)
		if err != nil {
			return err
		}
		if ask.closed {
			acts[i].Text = ask.subtree
		}
	}
	return nil
}

// sendClosed notifies a client of the asks that are closed, among those that its buffer shows as
// waiting.
func (s *Session) sendClosed(ctx context.Context, client Client, waiting []string) {
	for _, id := range waiting {
		s.showClosed(ctx, client, id)
	}
}

// Limits of what a conversation shows of the text of an approval. The list of approvals and the
// command line show all of it.
const (
	askLines = 100
	askBytes = 8 << 10
)

// approvalSubtree is an approval below a question of that level.
func approvalSubtree(level int, a protocol.Approval) string {
	var b strings.Builder
	b.WriteString(askHeading(level, "TODO Approve", summaryOf(a)))
	fmt.Fprintf(&b, "It asks because %s. What it will do:\n", verbatimPath(strings.TrimSuffix(a.Reason, ".")))
	for _, effect := range a.Effects {
		fmt.Fprintf(&b, "- %s\n", verbatimPath(effect))
	}
	text, cut := excerpt(a.Text)
	if text != "" {
		language := "text"
		if a.Language == "diff" {
			language = "diff"
		}
		fence := fenceFor(text)
		fmt.Fprintf(&b, "\n%s%s\n%s\n%s\n", fence, language, strings.TrimSuffix(text, "\n"), fence)
	}
	if cut > 0 {
		fmt.Fprintf(&b, "\nCut here: %d more bytes follow. =M-x org-agent-approval-view= shows all, and so does =org-agent approve %s=.\n", cut, a.ID)
	}
	scopes := "/o/ once, /t/ for this turn, /s/ for this session, /A/ always, "
	if a.Once {
		scopes = "/o/ once, "
	}
	// The client knows the last line as the one on which single letters are keys.
	fmt.Fprintf(&b, "\n/C-c C-c/ allows it once, /C-c C-k/ refuses it.\nOn this line: %s/d/ refuse, /e/ edit, /v/ look.\n", scopes)
	return askSubtree(level, a.ID, "approval", b.String())
}

// verbatimPath marks the path that a line ends in: Org reads emphasis between slashes.
func verbatimPath(line string) string {
	before, path, ok := strings.Cut(line, " /")
	if !ok || strings.ContainsAny(path, "=\n,;") {
		return line
	}
	return before + " =/" + path + "="
}

// approvalClosed is the closed subtree: a heading with the decision, and below it by whom, when
// and why it was made.
func approvalClosed(level int, a journal.Approval) string {
	words := "DONE Approved " + scope(a)
	switch a.Decision {
	case "":
		words = "CANCELLED Not decided"
	case protocol.Deny:
		words = "CANCELLED Refused"
	}
	return askSubtree(level, a.ID, "approval", askHeading(level, words, summaryOf(a.Approval))+
		closing(a.Decision != "", a.Client, a.Closed, a.Comment))
}

// closing is the line below a closed heading: who closed it, or that its turn ended, when,
// and the reason, if one was given.
func closing(decided bool, client string, at time.Time, reason string) string {
	who := "Its turn ended"
	if decided {
		who = by(client)
	}
	if reason = strings.Join(strings.Fields(reason), " "); reason == "" {
		return fmt.Sprintf("%s, %s.\n", who, stamp(at))
	}
	return fmt.Sprintf("%s, %s: %s\n", who, stamp(at), text.Prefix(reason, 500))
}

// headingWidth is the column in which Org puts the last character of a tag.
const headingWidth = 77

// askHeading is the heading of an ask below a question of that level. With its tag it ends in the
// column in which Org's headings end. A subject that is cut there is repeated whole below.
func askHeading(level int, words, subject string) string {
	room := headingWidth - len(" :agent:") - (level + len("* ")) - len(words) - len(": ")
	short := org.Shorten(subject, room)
	heading := fmt.Sprintf("* %s: %s\n", words, short)
	if short != subject {
		heading += "In full: " + subject + "\n"
	}
	return heading
}

func summaryOf(a protocol.Approval) string {
	if a.Summary == "" { // an approval of an earlier version
		return text.Prefix(strings.Join(strings.Fields(a.Action), " "), 72)
	}
	return a.Summary
}

func scope(a journal.Approval) string {
	words := map[protocol.Decision]string{
		protocol.AllowOnce: "once", protocol.AllowTurn: "for the turn", protocol.AllowSession: "for the session", protocol.AllowAlways: "always",
	}
	if a.Edited != "" {
		return "once, edited"
	}
	return words[a.Decision]
}

// by says who decided: the person, and with which kind of client.
func by(client string) string {
	switch {
	case client == "cli":
		return "You, in a shell"
	case strings.HasPrefix(strings.ToLower(client), "emacs"):
		return "You, in Emacs"
	}
	return "You"
}

// stamp is a time as Org's inactive timestamps have it.
func stamp(t time.Time) string { return t.Local().Format("[2006-01-02 Mon 15:04]") }

// askSubtree makes a subtree of a text with a heading; its property ASKS names the kind of ask.
func askSubtree(level int, id, asks, text string) string {
	converter := org.NewConverter(org.Options{
		QuestionLevel: level, Answer: true, Dialect: org.OrgWithMarkdown,
		Properties: []org.Property{{Key: "ID", Value: id}, {Key: "ASKS", Value: asks}},
	})
	return converter.Write(text) + converter.Close()
}

// excerpt is the beginning of a text, in whole lines if possible, and the number of bytes left
// out.
func excerpt(source string) (kept string, cut int) {
	kept = text.Prefix(source, askBytes)
	if lines := slices.Collect(strings.Lines(kept)); len(lines) > askLines {
		kept = strings.Join(lines[:askLines], "")
	}
	if end := strings.LastIndexByte(kept, '\n'); len(kept) < len(source) && end > 0 {
		kept = kept[:end+1]
	}
	return kept, len(source) - len(kept)
}

// fenceFor is a fence that no line of the text can close.
func fenceFor(text string) string {
	longest, run := 0, 0
	for _, c := range text {
		if c == '`' {
			run++
		} else {
			run = 0
		}
		longest = max(longest, run)
	}
	return strings.Repeat("`", max(3, longest+1))
}
