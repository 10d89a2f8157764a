package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-isatty"

	"org-agent/kernel/act"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// chatCommand is "org-agent chat".
type chatCommand struct {
	Session string   `help:"The session to continue. Without it a single message begins a new session, and a conversation continues main." placeholder:"NAME"`
	Add     []string `help:"Attach a file, a directory or an image to the first message; \"-\" is standard input." placeholder:"FILE" sep:"none"`
	Preset  string   `help:"Apply a preset of config.org to the first message." placeholder:"NAME"`
	Text    []string `arg:"" optional:"" help:"The message."`
}

func (c *chatCommand) Run(ctx context.Context, w *world) error {
	text := strings.Join(c.Text, " ")
	if c.Session != "" && !protocol.ValidSession(c.Session) {
		return usagef("%q is not a session name: use up to %d letters, digits, blanks and . _ -, and do not begin with a dot", c.Session, protocol.SessionLimit)
	}
	if text == "" && slices.Contains(c.Add, "-") {
		return usagef("say what to do with standard input: org-agent chat --add - TEXT")
	}
	added, err := w.added(c.Add)
	if err != nil {
		return err
	}
	if text == "" && !terminal(w.in) {
		piped, err := w.readInput()
		if err != nil {
			return err
		}
		text = piped
		if strings.TrimSpace(text) == "" {
			return usagef("nothing to send: give the message as an argument or on standard input")
		}
	}
	t := &talk{world: w, session: c.Session, added: added, preset: c.Preset, stream: terminal(w.out.to), turns: make(chan turnEvent, 64)}
	conn, err := w.connect(ctx, connection{start: true, streams: t.stream, handler: t.incoming})
	if err != nil {
		return err
	}
	defer conn.Close()
	t.conn = conn
	if notice := conn.Server().Server.Notice; notice != "" {
		fmt.Fprintf(w.err, "org-agent: %s\n", notice)
	}
	if err := t.consents(conn.Server().Server.Consent); err != nil {
		return err
	}
	if text == "" {
		return converse(ctx, t)
	}
	if t.session == "" {
		t.session = time.Now().Format("2006-01-02 150405.000")
	}
	return t.once(ctx, text)
}

// consents asks the person once whether words may go to a remote host that was found and not
// configured. The kernel remembers the consent.
func (t *talk) consents(host string) error {
	if host == "" {
		return nil
	}
	if !terminal(t.world.in) {
		return fmt.Errorf("your words would go to %s, which nobody has agreed to: agree once by running \"org-agent chat\" in a terminal, or name the model in config.org", host)
	}
	fmt.Fprintf(t.world.err, "your words go to %s. agree? [y/N] ", host)
	var answer string
	_, _ = fmt.Fscanln(t.world.in, &answer)
	if a := strings.ToLower(answer); a != "y" && a != "yes" {
		return fmt.Errorf("nothing was sent; to choose another model, edit config.org or set ORG_AGENT_LLM=builtin")
	}
	t.consent = host
	return nil
}

// terminal reports whether a stream is a terminal.
func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// talk is a conversation over one connection.
type talk struct {
	world   *world
	conn    *rpc.Conn
	session string
	added   *addition // attached to the next message
	preset  string    // applied to the next message
	consent string    // the host the person has just agreed to
	stream  bool
	turns   chan turnEvent
}

// turnEvent is one notification of the kernel about a turn, in the order of arrival.
type turnEvent struct {
	delta    *protocol.TurnDelta
	act      *protocol.Act
	ask      *protocol.Ask
	closed   *closedAsk
	renamed  *protocol.SessionRenamed
	finished *protocol.TurnFinished
	memory   *protocol.MemoryChange
}

// turn returns the id of the event's turn, or "" for an event that belongs to none.
func (e turnEvent) turn() string {
	switch {
	case e.delta != nil:
		return e.delta.Turn
	case e.act != nil:
		return e.act.Turn
	case e.finished != nil:
		return e.finished.Turn
	}
	return ""
}

// incoming receives the kernel's notifications. It runs on the connection's goroutine. It passes
// them on through a buffer, so it waits for the terminal only when the buffer is full.
func (t *talk) incoming(ctx context.Context, r *rpc.Request) (any, error) {
	send := func(e turnEvent) {
		select {
		case t.turns <- e:
		case <-ctx.Done():
		}
	}
	switch p := r.Params.(type) {
	case *protocol.Act:
		if !act.IsInsertion(*p) {
			return nil, protocol.Errorf(protocol.CodeForbidden, "the command line can only show text")
		}
		send(turnEvent{act: p})
		return protocol.Receipt{Done: true}, nil
	case *protocol.SessionRenamed:
		send(turnEvent{renamed: p})
	case *protocol.TurnDelta:
		send(turnEvent{delta: p})
	case *protocol.Ask:
		send(turnEvent{ask: p})
	case *protocol.AskClosed:
		send(turnEvent{closed: &closedAsk{id: p.ID, client: p.Client, decided: p.Decision != ""}})
	case *protocol.TurnFinished:
		send(turnEvent{finished: p})
	case *protocol.MemoryChange:
		send(turnEvent{memory: p})
	}
	return nil, nil
}

// attach subscribes to the conversation. If the conversation was renamed, attach follows it to its
// new name.
func (t *talk) attach(ctx context.Context) error {
	var loaded protocol.SessionLoadResult
	if err := t.conn.Call(ctx, protocol.MethodSessionLoad,
		protocol.SessionLoadParams{Session: t.session, View: protocol.ViewPlain, Watch: true}, &loaded); err != nil {
		return err
	}
	if loaded.Session != t.session {
		fmt.Fprintf(t.world.err, "org-agent: the conversation %s is now called %s\n", t.session, loaded.Session)
		t.session = loaded.Session
	}
	return nil
}

// once sends one message and prints the reply.
func (t *talk) once(ctx context.Context, text string) error {
	if err := t.attach(ctx); err != nil {
		return err
	}
	return t.exchange(ctx, text)
}

// send sends one message and returns its turn.
func (t *talk) send(ctx context.Context, text string) (string, error) {
	params := protocol.Object{
		{Key: "sensor", Value: protocol.Keyword(protocol.SensorChatMessage)},
		{Key: "session", Value: t.session}, {Key: "text", Value: text},
		{Key: "channel", Value: protocol.Keyword(protocol.ChannelCLI)},
	}
	t.added.put(&params)
	t.added = nil
	if t.preset != "" {
		params.Set("properties", []any{[]any{protocol.SettingPreset, t.preset}})
		t.preset = ""
	}
	if directory, err := os.Getwd(); err == nil && policy.ProjectOf(directory) != "" {
		params.Set(protocol.PayloadDirectory, directory)
	}
	if t.consent != "" {
		params.Set("consent", t.consent)
	}
	var ack protocol.EventResult
	err := t.conn.Call(ctx, protocol.MethodEvent, params, &ack)
	return ack.Turn, err
}

// exchange sends one message and shows the events of its turn until the turn ends. An interrupt
// stops the turn.
func (t *talk) exchange(ctx context.Context, text string) error {
	turn, err := t.send(ctx, text)
	if err != nil {
		return err
	}
	shown := printer{out: t.world.out, stream: t.stream}
	for {
		select {
		case e := <-t.turns:
			done, err := t.show(&shown, turn, e)
			if done || err != nil {
				return err
			}
		case <-ctx.Done():
			t.cancel(turn)
			return exit{code: 130}
		case <-t.conn.Done():
			return t.gone()
		}
	}
}

// gone is the error for a kernel that ended or closed the connection.
func (t *talk) gone() error {
	return fmt.Errorf("the kernel is gone; the message is kept: run \"org-agent chat --session %q\" to see what became of it", t.session)
}

// cancel stops the turn after an interrupt of the program.
func (t *talk) cancel(turn string) {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	if err := t.conn.Call(ctx, protocol.MethodTurnCancel, protocol.TurnParams{Turn: turn}, nil); err != nil {
		fmt.Fprintf(t.world.err, "org-agent: the turn was not stopped: %v\n", err)
	}
}

// show prints one event of the turn and ignores the session's other turns.
func (t *talk) show(p *printer, turn string, e turnEvent) (done bool, err error) {
	switch {
	case e.delta != nil:
		if e.delta.Turn == turn {
			p.delta(e.delta)
		}
	case e.act != nil:
		if e.act.Turn == turn {
			p.whole(e.act.Payload.Text("text"))
		}
	case e.memory != nil && e.memory.Undoes == "":
		fmt.Fprintf(t.world.err, "org-agent: %s in what is kept: %s; \"org-agent memory undo %s\" takes it back\n", e.memory.Operation, e.memory.Title, e.memory.ID)
	case e.renamed != nil && e.renamed.Session == t.session:
		t.session = e.renamed.To
		fmt.Fprintf(t.world.err, "org-agent: this conversation is now called %s\n", t.session)
	case e.ask != nil && e.ask.Turn == turn:
		title := askTitle(*e.ask)
		if e.ask.Sort == protocol.AskApproval {
			title = fmt.Sprintf("this needs your decision (%s): %s", e.ask.Reason, orAction(*e.ask))
		}
		fmt.Fprintf(t.world.err, "org-agent: %s\n", title)
		printLater(t.world.err, *e.ask)
		return true, exit{code: 5}
	case e.finished != nil && e.finished.Turn == turn:
		if e.finished.State == protocol.TurnAnswered {
			if e.finished.Notice != "" {
				fmt.Fprintf(t.world.err, "org-agent: %s\n", e.finished.Notice)
			}
			return true, nil
		}
		return true, fmt.Errorf("%s", strings.TrimSuffix(orState(e.finished), "."))
	}
	return false, nil
}

func orState(f *protocol.TurnFinished) string {
	if f.Notice != "" {
		return f.Notice
	}
	return "the turn was " + string(f.State)
}

// printer shows a reply. A terminal shows it as it grows. When text that was already shown is
// withdrawn, the whole reply follows below a separating line.
type printer struct {
	out    io.Writer
	stream bool
	shown  strings.Builder
}

func (p *printer) delta(d *protocol.TurnDelta) {
	if !p.stream || d.Text == "" {
		return
	}
	if d.Offset == 0 && p.shown.Len() > 0 {
		p.replaced()
	}
	p.shown.WriteString(d.Text)
	fmt.Fprint(p.out, d.Text)
}

func (p *printer) replaced() {
	fmt.Fprint(p.out, "\n--- replaced ---\n")
	p.shown.Reset()
}

func (p *printer) whole(text string) {
	rest, goesOn := strings.CutPrefix(text, p.shown.String())
	if !goesOn {
		p.replaced()
		rest = text
	}
	fmt.Fprint(p.out, rest)
	if !strings.HasSuffix(text, "\n") {
		fmt.Fprintln(p.out)
	}
	p.shown.Reset()
}
