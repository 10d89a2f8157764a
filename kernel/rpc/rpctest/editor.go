// Package rpctest is an Emacs made of Go, for tests: a client of the kernel that
// keeps a conversation's buffer as text and does to it what the real one does,
// so that a test can assert on what a person would see. It can also misbehave
// as real clients do.
//
// All methods of an [Editor] may be called from any goroutine. What the kernel
// sends is applied in the order it comes; each change wakes [Editor.Wait].
// Nothing here fails a test by itself: errors are returned, or listed by
// [Editor.Problems].
package rpctest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// Config says what kind of editor to open. Of Over and Socket one is set.
type Config struct {
	Socket string
	Over   net.Conn // an open connection to a kernel
	Token  rpc.Token
	Codec  rpc.Codec
	// Name is that of another client than Emacs, which has only the capabilities that are set here, and
	// by default streams. Without it the editor can all that an Emacs can.
	Name         string
	Capabilities *protocol.Capabilities
	Session      string // main where nothing is set
	View         protocol.View
	Watch        bool     // attach without replay
	Actions      []string // beside :insert-at-end
	// File is the conversation's file: the buffer begins with what it holds, and
	// the keeper saves there. Text is what the buffer begins with otherwise.
	File, Text string
	// Perform does the actions that are no insertion into the conversation; nil
	// refuses all but :message.
	Perform func(protocol.Act) (protocol.Receipt, error)
	// Check says what is in the way of such an action; nil: nothing is.
	Check func(protocol.Act) error
	// Answer answers what is asked of an Emacs; nil knows no such method.
	Answer func(ctx context.Context, method string, params any) (any, error)
	Faults Faults
	Logger *slog.Logger
}

// An Editor is one Emacs with one chat buffer.
type Editor struct {
	config Config
	conn   *rpc.Conn
	wire   *Wire

	mu                                 sync.Mutex // guards what follows
	buffer                             buffer
	loaded                             protocol.SessionLoadResult
	keeper                             bool
	killed                             bool                        // it saves nothing any more
	words                              map[string]string           // of the questions sent, by event
	receipts                           map[string]protocol.Receipt // by act
	acts                               []protocol.Act
	deltas                             []protocol.TurnDelta
	finished                           map[string]protocol.TurnFinished // by turn
	thoughts, preferred, model, preset string                           // as it was told last
	notices                            []string
	progress                           []protocol.TurnProgress
	asks                               []protocol.Ask // that wait
	compacted                          []protocol.SessionCompacted
	changedFiles                       []string
	problems                           []string
	changed                            chan struct{} // closed at the next change
}

// emacsVersion is the Emacs that an editor says it is.
const emacsVersion = "28.2"

// Open connects, initializes and loads the session. The caller ends it by Close
// or Kill.
func Open(ctx context.Context, config Config) (*Editor, error) {
	if config.Session == "" {
		config.Session = protocol.MainSession
	}
	e := &Editor{
		config: config, words: map[string]string{}, receipts: map[string]protocol.Receipt{},
		finished: map[string]protocol.TurnFinished{}, changed: make(chan struct{}),
		buffer: buffer{text: config.Text, previews: map[string]*span{}},
	}
	if config.File != "" {
		text, err := os.ReadFile(config.File)
		if err != nil && !os.IsNotExist(err) {
			return nil, fmt.Errorf("visit the conversation: %w", err)
		}
		e.buffer.text = string(text)
	}
	over := config.Over
	if over == nil {
		var err error
		if over, err = net.Dial("unix", config.Socket); err != nil {
			return nil, fmt.Errorf("open an editor: %w", err)
		}
	}
	e.wire = newWire(over, config.Faults)
	conn, err := rpc.Dial(ctx, rpc.DialConfig{
		Over: e.wire, Token: config.Token, Codec: config.Codec, Logger: config.Logger, Handler: e.handle,
		Client: config.info(),
	})
	if err != nil {
		return nil, fmt.Errorf("open an editor: %w", err)
	}
	e.conn = conn
	if err := e.load(ctx); err != nil {
		conn.Close()
		return nil, fmt.Errorf("open an editor: %w", err)
	}
	return e, nil
}

// info is how the client introduces itself.
func (c Config) info() protocol.ClientInfo {
	switch {
	case c.Capabilities != nil:
		return protocol.ClientInfo{Name: c.Name, Version: "0.1", Capabilities: *c.Capabilities}
	case c.Name != "":
		return protocol.ClientInfo{Name: c.Name, Version: "0.1", Capabilities: protocol.Capabilities{Streams: true}}
	}
	return protocol.ClientInfo{Name: "emacs", Version: "0.1", Emacs: emacsVersion, Capabilities: protocol.Capabilities{
		KeepsFile: true, Streams: true, Notices: true, Performs: c.Actions,
		Answers: []string{protocol.MethodEmacsNotes, protocol.MethodEmacsAgenda, protocol.MethodEmacsBuffers, protocol.MethodEmacsRead},
	}}
}

// load attaches to the session with the ids that the buffer holds.
func (e *Editor) load(ctx context.Context) error {
	e.mu.Lock()
	ids, waiting := e.buffer.ids(), e.buffer.waiting()
	e.mu.Unlock()
	var result protocol.SessionLoadResult
	err := e.conn.Call(ctx, protocol.MethodSessionLoad, protocol.SessionLoadParams{
		Session: e.config.Session, IDs: ids, Waiting: waiting, View: e.config.View, Watch: e.config.Watch,
	}, &result)
	if err == nil {
		err = e.conn.Drain(ctx) // turn/kept comes before the result
	}
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.loaded = result
	e.keeper = e.keeper || result.Keeper
	if e.buffer.draftStart() == len(e.buffer.text) {
		e.buffer.insert(len(e.buffer.text), "* ")
	}
	e.save()
	e.wake()
	return nil
}

// Send writes text as a question into the buffer, as C-c C-c does with the
// draft, and sends it. The id names the question's heading and the event; an
// empty one is not allowed. Sending an id again writes no second heading.
func (e *Editor) Send(ctx context.Context, id, text string) (protocol.EventResult, error) {
	e.mu.Lock()
	if !e.buffer.has(id) {
		first, rest, _ := strings.Cut(text, "\n")
		question := fmt.Sprintf("* %s :user:\n:PROPERTIES:\n:ID:       %s\n:END:\n", first, id)
		if rest != "" {
			question += rest + "\n"
		}
		e.buffer.insert(e.buffer.draftStart(), question)
		e.words[id] = first
		e.save()
		e.wake()
	}
	session := e.config.Session
	e.mu.Unlock()
	var result protocol.EventResult
	err := e.conn.Call(ctx, protocol.MethodEvent, protocol.Object{
		{Key: "sensor", Value: protocol.Keyword(protocol.SensorChatMessage)},
		{Key: "session", Value: session},
		{Key: "id", Value: id},
		{Key: "text", Value: text},
		{Key: "level", Value: int64(1)},
	}, &result)
	return result, err
}

// Call sends any request; see [rpc.Conn.Call].
func (e *Editor) Call(ctx context.Context, method string, params, result any) error {
	return e.conn.Call(ctx, method, params, result)
}

// Ask sends a question and waits until its turn has finished.
func (e *Editor) Ask(ctx context.Context, id, text string) (protocol.TurnFinished, error) {
	result, err := e.Send(ctx, id, text)
	if err != nil {
		return protocol.TurnFinished{}, err
	}
	return e.WaitTurn(ctx, result.Turn)
}

// WaitTurn waits until a turn has finished.
func (e *Editor) WaitTurn(ctx context.Context, turn string) (protocol.TurnFinished, error) {
	var finished protocol.TurnFinished
	err := e.Wait(ctx, func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		var ok bool
		finished, ok = e.finished[turn]
		return ok
	})
	if err != nil {
		return finished, fmt.Errorf("wait for turn %s: %w", turn, err)
	}
	return finished, nil
}

// Wait waits until condition is true, which is asked after every change; it
// may call the editor's methods. The errors are ctx's and [rpc.ErrConnectionLost].
func (e *Editor) Wait(ctx context.Context, condition func() bool) error {
	for {
		e.mu.Lock()
		changed := e.changed
		e.mu.Unlock()
		if condition() {
			return nil
		}
		select {
		case <-changed:
		case <-e.conn.Done():
			if condition() {
				return nil
			}
			return rpc.ErrConnectionLost
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// wake tells those who wait; mu is held.
func (e *Editor) wake() {
	close(e.changed)
	e.changed = make(chan struct{})
}

// save writes the buffer to the conversation's file if this is the keeper and lives, without
// what is only a preview: nobody may live to take that back. mu is held.
func (e *Editor) save() bool {
	file := e.loaded.File
	if e.config.File != "" {
		file = e.config.File
	}
	if !e.keeper || e.killed || file == "" {
		return false
	}
	if err := os.WriteFile(file, []byte(e.buffer.settled()), 0o600); err != nil {
		e.problems = append(e.problems, err.Error())
		return false
	}
	return true
}

// Text is the buffer's text.
func (e *Editor) Text() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.buffer.text
}

// Edit changes the buffer as its user might; f gets the text and returns the
// new one. Only what differs counts as changed.
func (e *Editor) Edit(f func(text string) string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	before, after := e.buffer.text, f(e.buffer.text)
	start, behind := 0, 0
	for start < min(len(before), len(after)) && before[start] == after[start] {
		start++
	}
	for behind < min(len(before), len(after))-start && before[len(before)-1-behind] == after[len(after)-1-behind] {
		behind++
	}
	e.buffer.replace(start, len(before)-behind, after[start:len(after)-behind])
	e.wake()
}

// Loaded is what the kernel answered to session/load, and whether this editor
// keeps the file now.
func (e *Editor) Loaded() (result protocol.SessionLoadResult, keeper bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.loaded, e.keeper
}

// Acts are the acts that came, repeated ones included.
func (e *Editor) Acts() []protocol.Act {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]protocol.Act(nil), e.acts...)
}

// Progress returns what it was told of how far turns have come.
func (e *Editor) Progress() []protocol.TurnProgress {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.progress)
}

// Deltas are the previews that came.
func (e *Editor) Deltas() []protocol.TurnDelta {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]protocol.TurnDelta(nil), e.deltas...)
}

// Thoughts is what models thought, as it came.
func (e *Editor) Thoughts() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.thoughts
}

// Chosen is the answer that was preferred last and the model chosen last.
func (e *Editor) Chosen() (answer, model string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.preferred, e.model
}

// ChangedFiles returns the files that tools changed, as it was told.
func (e *Editor) ChangedFiles() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.changedFiles)
}

// Compacted returns what was told of summaries of conversations.
func (e *Editor) Compacted() []protocol.SessionCompacted {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.compacted)
}

// Preset is the session's preset as the editor was told last.
func (e *Editor) Preset() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.preset
}

// Notices are the lines shown outside the buffer: notices, what :message said,
// and the notices of finished turns.
func (e *Editor) Notices() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.notices...)
}

// Approvals are those that were asked for and not closed.
func (e *Editor) Approvals() []protocol.Ask { return e.waiting(protocol.AskApproval) }

// Questions are those that were asked and not closed.
func (e *Editor) Questions() []protocol.Ask { return e.waiting(protocol.AskQuestion) }

func (e *Editor) waiting(sort protocol.AskSort) []protocol.Ask {
	e.mu.Lock()
	defer e.mu.Unlock()
	return protocol.AskListResult{Asks: e.asks}.Of(sort)
}

// Problems are what the editor could not do with what the kernel sent.
func (e *Editor) Problems() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.problems...)
}

// Previewing reports whether text stands in the buffer that no act has confirmed.
func (e *Editor) Previewing() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.buffer.previews) > 0
}

// Wire is the connection, for misbehaviour in the middle of a test.
func (e *Editor) Wire() *Wire { return e.wire }

// Done is closed when the connection has ended.
func (e *Editor) Done() <-chan struct{} { return e.conn.Done() }

// Close ends the connection after what was sent has gone out.
func (e *Editor) Close() {
	e.wire.Resume()
	e.conn.Close()
}

// Kill ends the editor as SIGKILL would: at once, whatever is under way. What had reached it is
// not saved any more.
func (e *Editor) Kill() {
	e.mu.Lock()
	e.killed = true
	e.mu.Unlock()
	// A connection that is gone already is as dead as it should be.
	_ = e.wire.Close()
	e.conn.Close()
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// receipt is for text that stands at start.
func (e *Editor) receipt(start int, text string, saved bool) protocol.Receipt {
	position := e.buffer.position(start)
	chars := utf8.RuneCountInString(text)
	return protocol.Receipt{
		Buffer: protocol.SessionBuffer(e.config.Session),
		Start:  position, End: position + chars, Chars: chars,
		SHA256: hash(text), Saved: saved, Done: true,
	}
}
