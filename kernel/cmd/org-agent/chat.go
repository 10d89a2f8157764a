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

	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// chatCommand is "org-agent chat".
type chatCommand struct {
	Session string   `help:"The session to go on with (default: a new one; in a conversation, main)." placeholder:"NAME"`
	Add     []string `help:"A file, a directory or an image that goes along with the first message; \"-\" is standard input." placeholder:"FILE" sep:"none"`
	Preset  string   `help:"A preset of config.org that holds for the first message." placeholder:"NAME"`
	Text    []string `arg:"" optional:"" help:"The message."`
}

func (c *chatCommand) Run(ctx context.Context, w *world) error {
	text := strings.Join(c.Text, " ")
	if c.Session != "" && !protocol.ValidSession(c.Session) {
		return usagef("%q is no session name: use up to %d letters, digits, blanks and . _ -, not beginning with a dot", c.Session, protocol.SessionLimit)
	}
	if text == "" && slices.Contains(c.Add, "-") {
		return usagef("say what is to be done with standard input: org-agent chat --add - TEXT")
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

// consents asks, once and for good, whether words may go to a host that was
// found rather than configured.
func (t *talk) consents(host string) error {
	if host == "" {
		return nil
	}
	if !terminal(t.world.in) {
		return fmt.Errorf("your words would go to %s, which nobody has agreed to: say so once with \"org-agent chat\" in a terminal, or name the model in config.org", host)
	}
	fmt.Fprintf(t.world.err, "your words go to %s. agree? [y/N] ", host)
	var answer string
	_, _ = fmt.Fscanln(t.world.in, &answer)
	if a := strings.ToLower(answer); a != "y" && a != "yes" {
		return fmt.Errorf("nothing was sent; config.org, or ORG_AGENT_LLM=builtin, chooses another model")
	}
	t.consent = host
	return nil
}

// terminal reports whether a stream is one.
func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// talk is a conversation over one connection.
type talk struct {
	world   *world
	conn    *rpc.Conn
	session string
	added   *addition // goes along with the next message
	preset  string    // holds for the next message
	consent string    // the host the person has just agreed to
	stream  bool
	turns   chan turnEvent
}

// turnEvent is what the kernel says of a turn, in order.
type turnEvent struct {
	delta    *protocol.TurnDelta
	act      *protocol.Act
	asked    *protocol.Approval
	question *protocol.Question
	closed   *closedAsk
	renamed  *protocol.SessionRenamed
	finished *protocol.TurnFinished
	kept     *protocol.MemoryChange
}

// turn is the turn that it is said of, if it is one of those that say it.
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

// incoming takes what the kernel sends. It runs on the connection's goroutine,
// and hands on without waiting for the terminal longer than the buffer lasts.
func (t *talk) incoming(ctx context.Context, method string, params any) (any, error) {
	send := func(e turnEvent) {
		select {
		case t.turns <- e:
		case <-ctx.Done():
		}
	}
	switch p := params.(type) {
	case *protocol.Act:
		if p.Payload.Text("action") != "insert-at-end" {
			return nil, protocol.Errorf(protocol.CodeForbidden, "the command line only shows text")
		}
		send(turnEvent{act: p})
		return protocol.Receipt{Done: true}, nil
	case *protocol.SessionRenamed:
		send(turnEvent{renamed: p})
	case *protocol.TurnDelta:
		send(turnEvent{delta: p})
	case *protocol.Approval:
		send(turnEvent{asked: p})
	case *protocol.Question:
		send(turnEvent{question: p})
	case *protocol.ApprovalClosed:
		send(turnEvent{closed: &closedAsk{id: p.ID, client: p.Client}})
	case *protocol.QuestionClosed:
		send(turnEvent{closed: &closedAsk{id: p.ID, client: p.Client}})
	case *protocol.TurnFinished:
		send(turnEvent{finished: p})
	case *protocol.MemoryChange:
		send(turnEvent{kept: p})
	}
	return nil, nil
}

// attach makes the conversation this client's. One that was renamed goes on under its name.
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

// exchange sends one message and shows what comes until its turn ends. An
// interrupt stops the turn.
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

// gone is the error of a kernel that died, or hung up.
func (t *talk) gone() error {
	return fmt.Errorf("the kernel is gone; the message is kept: run \"org-agent chat --session %q\" to see what became of it", t.session)
}

// cancel stops the turn after the program was interrupted.
func (t *talk) cancel(turn string) {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	if err := t.conn.Call(ctx, protocol.MethodTurnCancel, protocol.TurnParams{Turn: turn}, nil); err != nil {
		fmt.Fprintf(t.world.err, "org-agent: the turn was not stopped: %v\n", err)
	}
}

// show prints one event of the turn; other turns of the session are not ours.
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
	case e.kept != nil && e.kept.Undoes == "":
		fmt.Fprintf(t.world.err, "org-agent: %s in what is kept: %s; \"org-agent memory undo %s\" takes it back\n", e.kept.Operation, e.kept.Title, e.kept.ID)
	case e.renamed != nil && e.renamed.Session == t.session:
		t.session = e.renamed.To
		fmt.Fprintf(t.world.err, "org-agent: this conversation is now called %s\n", t.session)
	case e.asked != nil && e.asked.Turn == turn:
		fmt.Fprintf(t.world.err, "org-agent: this needs your decision (%s): %s\n", e.asked.Reason, orAction(*e.asked))
		ask{approval: e.asked}.later(t.world.err)
		return true, exit{code: 5}
	case e.question != nil && e.question.Turn == turn:
		fmt.Fprintf(t.world.err, "org-agent: this asks you: %s\n", e.question.Form.Title)
		ask{question: e.question}.later(t.world.err)
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

// printer shows a reply. A terminal gets it as it comes; when what was shown is
// taken back, the whole follows under a line that says so.
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
