package rpctest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// handle answers the requests and applies the notifications of the kernel.
func (e *Editor) handle(ctx context.Context, r *rpc.Request) (any, error) {
	method, params := r.Method, r.Params
	if act, ok := params.(*protocol.Act); ok && act.Check {
		if e.config.Check == nil {
			return protocol.Receipt{}, nil
		}
		return protocol.Receipt{}, e.config.Check(*act)
	} else if ok {
		if e.config.Faults.NoReceipts {
			r.Release()
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return e.performOnce(*act)
	}
	if strings.HasPrefix(method, "emacs/") {
		if e.config.Answer == nil {
			return nil, protocol.Errorf(protocol.CodeMethodNotFound, "this editor knows no method %s", method)
		}
		r.Release()
		return e.config.Answer(ctx, method, params)
	}
	if delta, ok := params.(*protocol.TurnDelta); ok {
		return nil, e.showDelta(ctx, *delta)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.signal()
	switch p := params.(type) {
	case *protocol.TurnStarted:
		if p.Session == e.config.Session && p.Question != "" && !e.buffer.hasID(p.Event) {
			e.buffer.insert(e.buffer.questionPosition(p.Parent), p.Question)
		}
	case *protocol.TurnFinished:
		e.finishTurn(*p)
	case *protocol.StoredTurn:
		e.addStoredTurn(*p)
	case *protocol.SessionKeeper:
		e.keeper = p.Keeper
		e.save()
	case *protocol.SessionRenamed:
		if p.Session == e.config.Session {
			e.config.Session, e.loaded.Session, e.loaded.File = p.To, p.To, p.File
		}
	case *protocol.TurnThought:
		e.thoughts += p.Text
	case *protocol.TurnCommentary:
		e.commentary = append(e.commentary, p.Text)
	case *protocol.TurnProgress:
		e.progress = append(e.progress, *p)
	case *protocol.TurnPreferred:
		e.preferred = p.ID
	case *protocol.SessionModelParams:
		e.model = p.Model
	case *protocol.SessionPresetParams:
		e.preset = p.Preset
	case *protocol.Subagent: // tests list the subagents instead
	case *protocol.Notice:
		e.notices = append(e.notices, p.Text)
	case *protocol.ServerInfo:
		e.server = *p
	case *protocol.Ask: // a client that attaches while the ask is shown again receives it twice
		if !slices.ContainsFunc(e.asks, func(a protocol.Ask) bool { return a.ID == p.ID }) {
			e.asks = append(e.asks, *p)
		}
	case *protocol.AskClosed:
		e.asks = slices.DeleteFunc(e.asks, func(a protocol.Ask) bool { return a.ID == p.ID })
		e.closeWaiting(p.Session, p.Waiting, p.Subtree)
	case *protocol.FileChanged:
		e.changedFiles = append(e.changedFiles, p.Files...)
	case *protocol.SessionCompacted:
		e.compacted = append(e.compacted, *p)
	default:
		e.problems = append(e.problems, fmt.Sprintf("no handler for %s", method))
	}
	return nil, nil
}

// closeWaiting closes the subtree of an ask. The caller must hold mu.
func (e *Editor) closeWaiting(session, waiting, subtree string) {
	if session == e.config.Session {
		e.buffer.closeWaiting(waiting, subtree)
		e.save()
	}
}

// finishTurn removes the previews of a turn that ended and stores its notice. The caller must hold mu.
func (e *Editor) finishTurn(p protocol.TurnFinished) {
	for act, preview := range e.buffer.previews {
		if preview.turn == p.Turn {
			e.buffer.dropPreview(act)
		}
	}
	if p.Notice != "" {
		e.notices = append(e.notices, p.Notice)
	}
	e.finished[p.Turn] = p
	if p.Session == e.config.Session {
		e.save()
	}
}

// addStoredTurn inserts the question and the answer of a turn unless the buffer has them. The caller
// must hold mu.
func (e *Editor) addStoredTurn(p protocol.StoredTurn) {
	if p.Session != e.config.Session {
		return
	}
	if p.Question != "" && !e.buffer.hasID(p.Event) {
		e.buffer.insert(e.buffer.questionPosition(p.Parent), p.Question)
	}
	if p.Answer != "" && (p.ID == "" || !e.buffer.hasID(p.ID)) {
		e.buffer.insert(e.buffer.answerPosition(p.Event, e.words[p.Event]), p.Answer)
	}
	e.save()
}

// showDelta adds a delta to its preview. If deltas before it are missing, it requests the text from
// the kernel.
func (e *Editor) showDelta(ctx context.Context, d protocol.TurnDelta) error {
	if d.Session != e.config.Session {
		return nil
	}
	e.mu.Lock()
	e.deltas = append(e.deltas, d)
	_, done := e.receipts[d.ID]
	lose := e.config.Faults.LoseDelta != nil && e.config.Faults.LoseDelta(len(e.deltas))
	fits := done || lose || e.buffer.preview(d.ID, d.Turn, d.Event, e.words[d.Event], d.Offset, d.Text)
	if !fits {
		e.buffer.dropPreview(d.ID)
	}
	e.signal()
	e.mu.Unlock()
	if fits {
		return nil
	}
	var got protocol.TurnGetResult
	if err := e.conn.Call(ctx, protocol.MethodTurnGet, protocol.TurnGetParams{Turn: d.Turn}, &got); err != nil {
		return fmt.Errorf("fill a gap: %w", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.signal()
	if got.ID != d.ID { // the turn has ended, and the act brings the whole text
		return nil
	}
	if !e.buffer.preview(got.ID, d.Turn, d.Event, e.words[d.Event], got.Offset, got.Text) {
		e.problems = append(e.problems, fmt.Sprintf("turn/get from 0 answered from %d", got.Offset))
	}
	return nil
}

// performOnce performs an act once, and returns the same receipt if it arrives again.
func (e *Editor) performOnce(a protocol.Act) (any, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.signal()
	e.acts = append(e.acts, a)
	if receipt, done := e.receipts[a.ID]; done {
		return receipt, nil
	}
	receipt, err := e.perform(a)
	if err == nil {
		e.receipts[a.ID] = receipt
	}
	return receipt, err
}

func (e *Editor) perform(a protocol.Act) (protocol.Receipt, error) {
	action := a.Payload.Text("action")
	if action != "insert-at-end" {
		return e.performOther(a, action)
	}
	own := protocol.SessionBuffer(e.config.Session)
	if b := a.Payload.Text("buffer"); a.Session != e.config.Session || b != "" && b != own {
		return protocol.Receipt{}, protocol.Errorf(protocol.CodeForbidden, "this editor writes only to %s", own)
	}
	text := a.Payload.Text("text")
	p := e.buffer.previews[a.ID]
	if start, _, found := e.buffer.heading(a.ID); found && p == nil {
		return e.receipt(start, text, e.save()), nil // turn/kept came before the act
	}
	if p == nil || hash(e.buffer.text[p.start:p.end]) != hash(text) {
		e.buffer.dropPreview(a.ID)
		s := e.buffer.insert(e.buffer.answerPosition(a.Event, e.words[a.Event]), text)
		p = &s
	}
	delete(e.buffer.previews, a.ID)
	return e.receipt(p.start, text, e.save()), nil
}

// performOther performs an action that does not insert into the conversation.
func (e *Editor) performOther(a protocol.Act, action string) (protocol.Receipt, error) {
	if e.config.Perform != nil {
		return e.config.Perform(a)
	}
	if action != "message" {
		return protocol.Receipt{}, protocol.Errorf(protocol.CodeForbidden, "this editor does not perform %s", action)
	}
	text := a.Payload.Text("text")
	if utf8.RuneCountInString(text) > 200 {
		return protocol.Receipt{}, protocol.Errorf(protocol.CodeTooLarge, "a message has 200 characters at most")
	}
	e.notices = append(e.notices, text)
	return protocol.Receipt{Done: true}, nil
}
