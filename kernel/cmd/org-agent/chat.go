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
	"org-agent/kernel/skill"
)

// chatCommand is "org-agent chat".
type chatCommand struct {
	Session string   `help:"The session to continue. Without it a single message begins a new session, and a conversation continues main." placeholder:"NAME"`
	Add     []string `help:"Attach a file, a directory or an image to the first message; \"-\" is standard input." placeholder:"FILE" sep:"none"`
	Preset  string   `help:"Apply a preset of config.org to the first message." placeholder:"NAME"`
	Text    []string `arg:"" optional:"" help:"The message."`
}

func (c *chatCommand) Run(ctx context.Context, proc *process) error {
	text := strings.Join(c.Text, " ")
	if c.Session != "" && !protocol.ValidSession(c.Session) {
		return usagef("%q is not a session name: use up to %d letters, digits, blanks and . _ -, and do not begin with a dot", c.Session, protocol.SessionLimit)
	}
	if text == "" && slices.Contains(c.Add, "-") {
		return usagef("say what to do with standard input: org-agent chat --add - TEXT")
	}
	attached, err := proc.readAttachments(ctx, c.Add)
	if err != nil {
		return err
	}
	if text == "" && !terminal(proc.stdin) {
		piped, err := proc.readInput()
		if err != nil {
			return err
		}
		text = piped
		if strings.TrimSpace(text) == "" {
			return usagef("nothing to send: give the message as an argument or on standard input")
		}
	}
	t := &chat{proc: proc, session: c.Session, attached: attached, preset: c.Preset, stream: terminal(proc.stdout.to), events: make(chan chatEvent, 64)}
	conn, err := proc.connect(ctx, connection{start: true, streams: t.stream, handler: t.incoming})
	if err != nil {
		return err
	}
	defer conn.Close()
	t.conn = conn
	if notice := conn.Server().Server.Notice; notice != "" {
		fmt.Fprintf(proc.stderr, "org-agent: %s\n", notice)
	}
	if names := proc.otherVariables(conn.Server().Server.Variables); len(names) > 0 {
		fmt.Fprintf(proc.stderr, "org-agent: the kernel runs without this shell's %s: \"org-agent stop\" ends it, and your next message starts one with it\n", strings.Join(names, ", "))
	}
	if err := t.askConsent(ctx, conn.Server().Server.Consent); err != nil {
		return err
	}
	if text == "" {
		return converse(ctx, t)
	}
	if t.session == "" {
		t.session = time.Now().Format("2006-01-02 150405.000")
	}
	return t.sendOnce(ctx, text)
}

// askConsent asks the person whether messages may be sent to a remote host that was detected and not
// configured. The kernel remembers the consent, so this happens once for a host.
func (t *chat) askConsent(ctx context.Context, host string) error {
	if host == "" {
		return nil
	}
	if !terminal(t.proc.stdin) {
		return fmt.Errorf("messages would be sent to %s, and nobody has agreed to that yet: agree once by running \"org-agent chat\" in a terminal, or name the model in config.org", host)
	}
	yes, err := t.proc.confirm(ctx, fmt.Sprintf("messages are sent to %s. agree?", host))
	if err != nil {
		return err
	}
	if !yes {
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

// chat is a conversation over one connection.
type chat struct {
	proc     *process
	conn     *rpc.Conn
	session  string
	attached *attachments // attached to the next message
	preset   string       // applied to the next message
	consent  string       // the host to which the person has just agreed
	stream   bool
	events   chan chatEvent
}

// chatEvent is one notification of the kernel. Exactly one field is set.
type chatEvent struct {
	delta    *protocol.TurnDelta
	act      *protocol.Act
	ask      *protocol.Ask
	closed   *closedAsk
	renamed  *protocol.SessionRenamed
	finished *protocol.TurnFinished
	memory   *protocol.MemoryChange
}

// turn returns the id of the event's turn, or "" for an event that belongs to none.
func (e chatEvent) turn() string {
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

// incoming passes the kernel's notifications to the events channel, in the order of their arrival. It
// runs on the connection's goroutine, and blocks only while the channel's buffer is full.
func (t *chat) incoming(ctx context.Context, r *rpc.Request) (any, error) {
	send := func(e chatEvent) {
		select {
		case t.events <- e:
		case <-ctx.Done():
		}
	}
	switch p := r.Params.(type) {
	case *protocol.Act:
		if !act.IsInsertion(*p) {
			return nil, protocol.Errorf(protocol.CodeForbidden, "the command line can only show text")
		}
		send(chatEvent{act: p})
		return protocol.Receipt{Done: true}, nil
	case *protocol.SessionRenamed:
		send(chatEvent{renamed: p})
	case *protocol.TurnDelta:
		send(chatEvent{delta: p})
	case *protocol.Ask:
		send(chatEvent{ask: p})
	case *protocol.AskClosed:
		send(chatEvent{closed: &closedAsk{id: p.ID, client: p.Client, decided: p.Decision != ""}})
	case *protocol.TurnFinished:
		send(chatEvent{finished: p})
	case *protocol.MemoryChange:
		send(chatEvent{memory: p})
	}
	return nil, nil
}

// attach subscribes to the conversation. It uses the new name of a conversation that was renamed.
func (t *chat) attach(ctx context.Context) error {
	var loaded protocol.SessionLoadResult
	if err := t.conn.Call(ctx, protocol.MethodSessionLoad,
		protocol.SessionLoadParams{Session: t.session, View: protocol.ViewPlain, Watch: true}, &loaded); err != nil {
		return err
	}
	if loaded.Session != t.session {
		fmt.Fprintf(t.proc.stderr, "org-agent: the conversation %s is now called %s\n", t.session, loaded.Session)
		t.session = loaded.Session
	}
	return nil
}

// sendOnce sends one message and prints the reply.
func (t *chat) sendOnce(ctx context.Context, text string) error {
	if err := t.attach(ctx); err != nil {
		return err
	}
	t.tellWants(ctx, text)
	return t.exchange(ctx, text)
}

// tellWants tells the person that a command looks at a buffer, if nothing was added that could be one.
func (t *chat) tellWants(ctx context.Context, text string) {
	name, _, isCommand := skill.SplitCommand(text)
	if !isCommand || t.attached.buffer() != nil {
		return
	}
	var list protocol.SkillListResult
	if err := t.conn.Call(ctx, protocol.MethodSkillList, protocol.Empty{}, &list); err != nil {
		return // the message is sent all the same
	}
	for _, c := range list.Commands {
		if c.Name == name && slices.Contains(c.Wants, "buffer") {
			fmt.Fprintf(t.proc.stderr, "org-agent: /%s looks at a buffer, and there is none here: --add FILE gives it one\n", name)
		}
	}
}

// send sends one message and returns its turn.
func (t *chat) send(ctx context.Context, text string) (string, error) {
	params := protocol.Object{
		{Key: "sensor", Value: protocol.Keyword(protocol.SensorChatMessage)},
		{Key: "session", Value: t.session}, {Key: "text", Value: text},
		{Key: "channel", Value: protocol.Keyword(protocol.ChannelCLI)},
	}
	t.attached.addTo(&params)
	t.attached = nil
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
func (t *chat) exchange(ctx context.Context, text string) error {
	turn, err := t.send(ctx, text)
	if err != nil {
		return err
	}
	reply := printer{out: t.proc.stdout, stream: t.stream}
	for {
		select {
		case e := <-t.events:
			done, err := t.show(&reply, turn, e)
			if done || err != nil {
				return err
			}
		case <-ctx.Done():
			t.cancel(turn)
			return exit{code: 130}
		case <-t.conn.Done():
			return t.connectionLost()
		}
	}
}

// connectionLost returns the error for a kernel that ended or closed the connection.
func (t *chat) connectionLost() error {
	return fmt.Errorf("the connection to the kernel was lost; the message is stored: \"org-agent chat --session %q\" continues the conversation", t.session)
}

// cancel stops a turn after the person interrupted the program.
func (t *chat) cancel(turn string) {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	if err := t.conn.Call(ctx, protocol.MethodTurnCancel, protocol.TurnParams{Turn: turn}, nil); err != nil {
		fmt.Fprintf(t.proc.stderr, "org-agent: the turn was not stopped: %v\n", err)
	}
}

// show prints one event. It ignores events of the session's other turns. It returns true when the turn
// has ended or waits for the person.
func (t *chat) show(p *printer, turn string, e chatEvent) (done bool, err error) {
	switch {
	case e.delta != nil:
		if e.delta.Turn == turn {
			p.addDelta(e.delta)
		}
	case e.act != nil:
		if e.act.Turn == turn {
			p.finish(e.act.Payload.Text("text"))
		}
	case e.memory != nil && e.memory.Undoes == "":
		fmt.Fprintf(t.proc.stderr, "org-agent: memory %s: %s; \"org-agent memory undo %s\" undoes it\n", e.memory.Operation, e.memory.Title, e.memory.ID)
	case e.renamed != nil && e.renamed.Session == t.session:
		t.session = e.renamed.To
		fmt.Fprintf(t.proc.stderr, "org-agent: this conversation is now called %s\n", t.session)
	case e.ask != nil && e.ask.Turn == turn:
		title := askTitle(*e.ask)
		if e.ask.Sort == protocol.AskApproval {
			title = fmt.Sprintf("this needs your decision (%s): %s", e.ask.Reason, approvalTitle(*e.ask))
		}
		fmt.Fprintf(t.proc.stderr, "org-agent: %s\n", title)
		printAnswerCommand(t.proc.stderr, *e.ask)
		return true, exit{code: 5}
	case e.finished != nil && e.finished.Turn == turn:
		if e.finished.State == protocol.TurnAnswered {
			if e.finished.Notice != "" {
				fmt.Fprintf(t.proc.stderr, "org-agent: %s\n", e.finished.Notice)
			}
			return true, nil
		}
		return true, fmt.Errorf("%s", strings.TrimSuffix(endNotice(e.finished), "."))
	}
	return false, nil
}

func endNotice(f *protocol.TurnFinished) string {
	if f.Notice != "" {
		return f.Notice
	}
	return "the turn was " + string(f.State)
}

// printer prints a reply. With stream it prints the deltas as they arrive. If the reply then turns out
// to differ from the printed text, the whole reply follows below a separating line.
type printer struct {
	out    io.Writer
	stream bool
	shown  strings.Builder
}

func (p *printer) addDelta(d *protocol.TurnDelta) {
	if !p.stream || d.Text == "" {
		return
	}
	if d.Offset == 0 && p.shown.Len() > 0 {
		p.discardShown()
	}
	p.shown.WriteString(d.Text)
	fmt.Fprint(p.out, d.Text)
}

func (p *printer) discardShown() {
	fmt.Fprint(p.out, "\n--- replaced ---\n")
	p.shown.Reset()
}

func (p *printer) finish(text string) {
	rest, continues := strings.CutPrefix(text, p.shown.String())
	if !continues {
		p.discardShown()
		rest = text
	}
	fmt.Fprint(p.out, rest)
	if !strings.HasSuffix(text, "\n") {
		fmt.Fprintln(p.out)
	}
	p.shown.Reset()
}
