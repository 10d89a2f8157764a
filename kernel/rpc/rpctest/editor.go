// Package rpctest simulates an Emacs for tests. It is a client of the kernel that holds the text of a
// conversation's buffer and changes it as Emacs would, so that a test can check what a person would
// see. It can also misbehave as real clients do.
//
// All methods of an [Editor] are safe for concurrent use. Messages of the kernel are applied in the
// order in which they arrive, and each change wakes [Editor.Wait]. No function here fails a test:
// errors are returned, or listed by [Editor.Problems].
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

// Config configures an editor. Either Over or Socket is required.
type Config struct {
	Socket string
	Over   net.Conn // an open connection to a kernel
	Token  rpc.Token
	Codec  rpc.Codec
	// Name is the name of a client that is not Emacs; "" is Emacs with all its capabilities. Another
	// client has the Capabilities; nil is a client that only streams.
	Name         string
	Capabilities *protocol.Capabilities
	Session      string // default "main"
	View         protocol.View
	Watch        bool     // attach without replay
	Actions      []string // beside :insert-at-end
	// File is the conversation's file. The buffer begins with its content, and the editor saves there
	// while it is the keeper. Without a File, the buffer begins with Text.
	File, Text string
	// Perform performs the actions that do not insert into the conversation; nil refuses all of them
	// but :message.
	Perform func(protocol.Act) (protocol.Receipt, error)
	// Check returns what prevents such an action; nil allows all.
	Check func(protocol.Act) error
	// Answer answers the kernel's requests to Emacs; nil refuses them.
	Answer func(ctx context.Context, method string, params any) (any, error)
	Faults Faults
	Logger *slog.Logger
}

// Editor simulates one Emacs with one chat buffer.
type Editor struct {
	config Config
	conn   *rpc.Conn
	wire   *Wire

	mu                                 sync.Mutex // guards the fields below
	buffer                             buffer
	loaded                             protocol.SessionLoadResult
	keeper                             bool
	killed                             bool                        // a killed editor saves nothing
	words                              map[string]string           // first lines of the questions sent, by event
	receipts                           map[string]protocol.Receipt // by act
	acts                               []protocol.Act
	deltas                             []protocol.TurnDelta
	finished                           map[string]protocol.TurnFinished // by turn
	thoughts, preferred, model, preset string                           // the values of the latest notifications
	commentary                         []string
	notices                            []string
	server                             protocol.ServerInfo
	progress                           []protocol.TurnProgress
	asks                               []protocol.Ask // those that are open
	compacted                          []protocol.SessionCompacted
	changedFiles                       []string
	problems                           []string
	changed                            chan struct{} // closed at the next change
}

// emacsVersion is the version that an editor reports.
const emacsVersion = "28.2"

// Open connects, initializes and loads the session. The caller must call Close or Kill.
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
	e.mu.Lock()
	if e.server.Home == "" { // no notification came before
		e.server = conn.Server().Server
	}
	e.mu.Unlock()
	if err := e.load(ctx); err != nil {
		conn.Close()
		return nil, fmt.Errorf("open an editor: %w", err)
	}
	return e, nil
}

// info returns the client's name and capabilities for the handshake.
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

// load attaches to the session with the ids in the buffer.
func (e *Editor) load(ctx context.Context) error {
	e.mu.Lock()
	ids, waiting := e.buffer.ids(), e.buffer.openHeadings()
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
	e.signal()
	return nil
}

// Send inserts text as a question into the buffer, as C-c C-c does with the draft, and sends it. id is
// the id of the question's heading and of the event, and must not be empty. Sending the same id again
// inserts no second heading.
func (e *Editor) Send(ctx context.Context, id, text string) (protocol.EventResult, error) {
	e.mu.Lock()
	if !e.buffer.hasID(id) {
		first, rest, _ := strings.Cut(text, "\n")
		question := fmt.Sprintf("* %s :user:\n:PROPERTIES:\n:ID:       %s\n:END:\n", first, id)
		if rest != "" {
			question += rest + "\n"
		}
		e.buffer.insert(e.buffer.draftStart(), question)
		e.words[id] = first
		e.save()
		e.signal()
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

// Wait waits until condition returns true. It is called after every change, and may call the editor's
// methods. The errors are those of ctx and [rpc.ErrConnectionLost].
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

// signal wakes the callers of Wait. The caller must hold mu.
func (e *Editor) signal() {
	close(e.changed)
	e.changed = make(chan struct{})
}

// save writes the buffer to the conversation's file if the editor is the keeper and was not killed.
// It omits the previews, because an editor that is killed could not remove them later. The caller must
// hold mu.
func (e *Editor) save() bool {
	file := e.loaded.File
	if e.config.File != "" {
		file = e.config.File
	}
	if !e.keeper || e.killed || file == "" {
		return false
	}
	if err := os.WriteFile(file, []byte(e.buffer.withoutPreviews()), 0o600); err != nil {
		e.problems = append(e.problems, err.Error())
		return false
	}
	return true
}

// Text returns the text of the buffer.
func (e *Editor) Text() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.buffer.text
}

// Edit changes the buffer as its user might. f gets the text and returns the new one. Only the part
// that differs is replaced.
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
	e.signal()
}

// Loaded returns the kernel's result of session/load, and whether this editor is the keeper now.
func (e *Editor) Loaded() (result protocol.SessionLoadResult, keeper bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.loaded, e.keeper
}

// Acts returns the acts that arrived, repeated ones included.
func (e *Editor) Acts() []protocol.Act {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]protocol.Act(nil), e.acts...)
}

// Progress returns the notifications of the progress of turns.
func (e *Editor) Progress() []protocol.TurnProgress {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.progress)
}

// Deltas returns the deltas that arrived.
func (e *Editor) Deltas() []protocol.TurnDelta {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]protocol.TurnDelta(nil), e.deltas...)
}

// Thoughts returns the thoughts of models, in the order of their arrival.
func (e *Editor) Thoughts() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.thoughts
}

// Commentary returns what models said beside their calls, in the order of its arrival.
func (e *Editor) Commentary() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.commentary...)
}

// Chosen returns the answer that was preferred last and the model that was chosen last.
func (e *Editor) Chosen() (answer, model string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.preferred, e.model
}

// ChangedFiles returns the files of which the kernel reported that tools changed them.
func (e *Editor) ChangedFiles() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.changedFiles)
}

// Compacted returns the notifications about summaries of conversations.
func (e *Editor) Compacted() []protocol.SessionCompacted {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.compacted)
}

// Preset returns the preset that was chosen last for the session.
func (e *Editor) Preset() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.preset
}

// Server returns the description of the kernel, as far as it is known now.
func (e *Editor) Server() protocol.ServerInfo {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.server
}

// Notices returns the lines shown outside the buffer: notices, the texts of :message, and the notices
// of finished turns.
func (e *Editor) Notices() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.notices...)
}

// Approvals returns the open approvals.
func (e *Editor) Approvals() []protocol.Ask { return e.openAsks(protocol.AskApproval) }

// Questions returns the open questions.
func (e *Editor) Questions() []protocol.Ask { return e.openAsks(protocol.AskQuestion) }

func (e *Editor) openAsks(sort protocol.AskSort) []protocol.Ask {
	e.mu.Lock()
	defer e.mu.Unlock()
	return protocol.AskListResult{Asks: e.asks}.Of(sort)
}

// Problems returns the messages of the kernel that the editor could not apply.
func (e *Editor) Problems() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.problems...)
}

// Previewing reports whether the buffer contains text that no act has confirmed.
func (e *Editor) Previewing() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.buffer.previews) > 0
}

// Wire returns the connection, so that a test can stall it.
func (e *Editor) Wire() *Wire { return e.wire }

// Done is closed when the connection has ended.
func (e *Editor) Done() <-chan struct{} { return e.conn.Done() }

// Close sends what is queued, and ends the connection.
func (e *Editor) Close() {
	e.wire.Resume()
	e.conn.Close()
}

// Kill ends the editor at once, as SIGKILL would. Messages that arrived before are not saved any more.
func (e *Editor) Kill() {
	e.mu.Lock()
	e.killed = true
	e.mu.Unlock()
	_ = e.wire.Close() // it may be closed already
	e.conn.Close()
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// receipt returns the receipt for text that begins at start.
func (e *Editor) receipt(start int, text string, saved bool) protocol.Receipt {
	position := e.buffer.emacsPosition(start)
	chars := utf8.RuneCountInString(text)
	return protocol.Receipt{
		Buffer: protocol.SessionBuffer(e.config.Session),
		Start:  position, End: position + chars, Chars: chars,
		SHA256: hash(text), Saved: saved, Done: true,
	}
}
