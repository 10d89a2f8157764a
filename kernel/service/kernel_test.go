package service_test

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/act"
	"org-agent/kernel/config"
	"org-agent/kernel/doctor"
	"org-agent/kernel/explain"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/logfile"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/service"
)

// The trace of a turn is returned for any of its ids, the doctor runs the requested checks, and a client
// can stop the kernel.
func TestKernel(t *testing.T) {
	k := newEchoSessions(t)
	turn := k.send(t, "main", "q1", "hello samovar")
	kinds := kind.New(act.Kinds(act.Deps{})...)
	home := t.TempDir()
	env := func(name string) string { return map[string]string{"HOME": home}[name] }
	paths, err := config.FindPaths(home, env)
	if err != nil {
		t.Fatal(err)
	}
	stopped := 0
	conn := serve(t, service.Kernel{
		Doctor: doctor.Config{Paths: paths, Env: env, Self: true}, Traces: explain.Reader{Rows: k.journal.Records, Turns: k.journal.Turns},
		Kinds: func() *kind.Set { return kinds }, Stop: func() { stopped++ }, Logger: discardLogger,
	}.Methods())("a shell")
	for _, id := range []string{"q1", turn.Answer} {
		var result protocol.TraceGetResult
		if err := conn.Call(within(t), protocol.MethodTraceGet, protocol.TraceGetParams{ID: id}, &result); err != nil || result.Turn != turn.ID || result.State != protocol.TurnAnswered || !strings.Contains(result.Outline, "hello samovar") {
			t.Errorf("%s: %+v, %v", id, result, err)
		}
	}
	wantError(t, "an id that is none", conn.Call(within(t), protocol.MethodTraceGet, protocol.TraceGetParams{ID: "none"}, nil), protocol.CodeNotFound, "none")
	var found protocol.DoctorResult
	if err := conn.Call(within(t), protocol.MethodDoctor, protocol.DoctorParams{Only: []string{"config"}}, &found); err != nil || len(found.Findings) == 0 {
		t.Fatalf("%+v, %v", found, err)
	}
	for _, f := range found.Findings {
		if f.Check != "config" || f.State == "" || f.Text == "" {
			t.Errorf("the doctor found %+v", f)
		}
	}
	if err := conn.Call(within(t), protocol.MethodShutdown, nil, nil); err != nil || stopped != 1 {
		t.Errorf("ended %d times, %v", stopped, err)
	}
}

// fakeState returns fixed counts for the status.
type fakeState struct{}

func (fakeState) Waiting(context.Context) (int, error) { return 2, nil }
func (fakeState) Flushes() journal.Flushes {
	return journal.Flushes{Count: 6, Median: time.Millisecond, P99: 2 * time.Millisecond, Longest: time.Second}
}
func (fakeState) Unindexed(context.Context) (journal.Unindexed, error) {
	return journal.Unindexed{}, nil
}
func (fakeState) Counts() (open, running, queued int) { return 3, 2, 1 }
func (fakeState) BusySessions() []protocol.ConversationStatus {
	return []protocol.ConversationStatus{{Name: "main.look-1", Running: "t2"}, {Name: "main", Running: "t1"}}
}
func (fakeState) List(context.Context, string) ([]protocol.Subagent, error) {
	return []protocol.Subagent{{ID: "s1", Child: "main.look-1", Session: "main", Label: "look"}}, nil
}
func (fakeState) Cancel(context.Context, string, string) (int, error) { return 0, nil }

// fakeJournal is a journal in which three rows wait.
type fakeJournal struct{ fakeState }

func (fakeJournal) Waiting() int { return 3 }

// A client with the token gets the complete status, and one without it only the counts.
func TestStatus(t *testing.T) {
	s := newSkills(t)
	status := service.Status{
		Fixed: protocol.StatusResult{Version: "7", PID: 42}, Started: time.Now().Add(-time.Hour), Paths: config.Paths{Log: "/log"},
		Asks: fakeState{}, Index: fakeState{}, Size: func() int64 { return 12345 }, Sessions: fakeState{}, Subagents: fakeState{}, Skills: s.Notes,
		Clients: func() []protocol.ClientStatus { return []protocol.ClientStatus{{Name: "a shell"}} },
		Model:   func() string { return "large" },
		Models:  func() []protocol.ModelStatus { return []protocol.ModelStatus{{Name: "large"}} },
		MCP:     func() []protocol.MCPServer { return []protocol.MCPServer{{Name: "maps"}} },
		Faults:  func() []string { return []string{"a note is broken"} },
		Settings: func() config.Settings {
			return config.Settings{Presets: []config.Preset{{Name: "brief"}}}
		},
		Runtime: service.Runtime{Journal: fakeJournal{fakeState{}}, Pending: func() (messages, bytes int) { return 4, 5 }},
	}
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := rpc.ListenUnix(socket)
	if err != nil {
		t.Fatal(err)
	}
	table, err := service.NewTable(status.Methods())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- (&rpc.Server{Handler: table, Token: "token"}).Serve(ctx, listener) }()
	defer func() { stop(); <-done }()
	for _, token := range []rpc.Token{"token", ""} {
		conn, err := rpc.Dial(within(t), rpc.DialConfig{Socket: socket, Token: token})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		var got protocol.StatusResult
		if err := conn.Call(within(t), protocol.MethodStatus, nil, &got); err != nil {
			t.Fatal(err)
		}
		if got.Version != "7" || got.Waiting != 2 || got.Sessions != 3 || got.Running != 2 || got.Queued != 1 || got.Skills == 0 || got.Clients != 1 {
			t.Errorf("with %q: %+v", token, got)
		}
		complete := len(got.Models) == 1 && len(got.MCP) == 1 && len(got.Faults) == 1 && len(got.Presets) == 1 && len(got.Connected) == 1 && len(got.Conversations) == 2 &&
			got.JournalSize == 12345 && got.Log == "/log" && got.Memory > 0 && got.Seconds >= 3600
		reduced := len(got.Models)+len(got.MCP)+len(got.Faults)+len(got.Presets)+len(got.Connected)+len(got.Conversations) == 0 && got.Log == "" && got.Seconds == 0
		if token != "" && !complete || token == "" && !reduced {
			t.Errorf("with the token %v: %+v", token != "", got)
		}
		if token != "" && (got.Conversations[0].Name != "main" || got.Conversations[1].Parent != "main" || got.Conversations[1].Label != "look") {
			t.Errorf("a subagent does not stand behind its parent: %+v", got.Conversations)
		}
	}
}

// A fault is reported once while it lasts, and again when it returns.
func TestFaults(t *testing.T) {
	var notices []string
	f := &service.Faults{Logger: discardLogger, Notify: func(_ string, params any) { notices = append(notices, params.(protocol.Notice).Text) }}
	f.Report("b", []string{"one", "two"})
	f.Report("b", []string{"two", "three"})
	f.Report("a", []string{"four"})
	if got := f.Current(); !slices.Equal(got, []string{"four", "two", "three"}) {
		t.Errorf("they last: %v", got)
	}
	f.Report("b", nil)
	f.Report("b", []string{"two"})
	if want := []string{"one", "two", "three", "four", "two"}; !slices.Equal(notices, want) {
		t.Errorf("told %v and not %v", notices, want)
	}
}

// A client gets the end of the log that matches its filter, and further records if it follows the log.
func TestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	writer := logfile.NewWriter(path, io.Discard)
	ctx, stop := context.WithCancel(context.Background())
	delivered := make(chan struct{})
	go func() { defer close(delivered); writer.Deliver(ctx) }()
	defer func() { stop(); <-delivered }()
	log := slog.New(logfile.Handler(writer, slog.LevelDebug))
	received := make(chan protocol.LogLines, 10)
	dial := serveWith(t, func(_ context.Context, r *rpc.Request) (any, error) {
		if lines, ok := r.Params.(*protocol.LogLines); ok {
			received <- *lines
		}
		return nil, nil
	}, service.Log{Writer: writer, Path: path}.Methods())
	conn := dial("a shell")
	var tail protocol.LogTailResult
	if err := conn.Call(within(t), protocol.MethodLogTail, protocol.LogTailParams{Level: "warn", Follow: true, Mark: 7}, &tail); err != nil || tail.File != path {
		t.Fatalf("%+v, %v", tail, err)
	}
	log.Info("too little")
	log.Warn("enough", "session", "main", "n", 1)
	select {
	case lines := <-received:
		if len(lines.Records) != 1 || lines.Mark != 7 {
			t.Fatalf("%+v came", lines)
		}
		if r := lines.Records[0]; r.Message != "enough" || r.Session != "main" || r.Level != protocol.LevelWarn {
			t.Errorf("%+v came", lines)
		}
	case <-time.After(20 * time.Second):
		t.Error("nothing came")
	}
	wantError(t, "a level that is none", conn.Call(within(t), protocol.MethodLogTail, protocol.LogTailParams{Level: "loud"}, nil), protocol.CodeInvalidParams, `"loud"`)
}
