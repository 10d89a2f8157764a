package telegram_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest/telegramtest"
	"org-agent/kernel/channel/rich"
	"org-agent/kernel/channel/telegram"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// loft is a bot with its server, and what the bot delivered.
type loft struct {
	*telegramtest.Server
	driver *telegram.Driver
	state  *state
	log    *log

	mutex   sync.Mutex
	got     []channel.Message
	refuse  func(m channel.Message) error // an error of receive
	arrived chan struct{}
}

// state is a [channel.State] in memory.
type state struct {
	mutex  sync.Mutex
	values map[string]string
	fails  error
}

func (s *state) Load(_ context.Context, key string) (string, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.values[key], s.fails
}

func (s *state) Store(_ context.Context, key, value string) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.fails == nil {
		s.values[key] = value
	}
	return s.fails
}

// log is a log that is read while it is written.
type log struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.String()
}

// newLoft returns a bot that reaches its server without a socket.
func newLoft(change ...func(*telegram.Config)) *loft {
	l := &loft{Server: telegramtest.New(), state: &state{values: map[string]string{}}, log: &log{}, arrived: make(chan struct{}, 1)}
	c := telegram.Config{Token: telegramtest.Token, HTTP: l.Client(), State: l.state, Logger: slog.New(slog.NewTextHandler(l.log, nil)), Pause: time.Millisecond}
	for _, f := range change {
		f(&c)
	}
	l.driver = telegram.New(c)
	return l
}

func (l *loft) receive(_ context.Context, m channel.Message) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.refuse != nil {
		if err := l.refuse(m); err != nil {
			return err
		}
	}
	l.got = append(l.got, m)
	select {
	case l.arrived <- struct{}{}:
	default:
	}
	return nil
}

// run runs the bot until the returned function is called, which returns the error of Run.
func (l *loft) run(ctx context.Context) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- l.driver.Run(ctx, l.receive) }()
	return func() error {
		cancel()
		return <-ended
	}
}

// messages waits until n messages arrived, and returns all of them.
func (l *loft) messages(t *testing.T, n int) []channel.Message {
	t.Helper()
	limit := time.After(20 * time.Second)
	for {
		l.mutex.Lock()
		got := append([]channel.Message(nil), l.got...)
		l.mutex.Unlock()
		if len(got) >= n {
			return got
		}
		select {
		case <-l.arrived:
		case <-limit:
			t.Fatalf("%d messages arrived, not %d; the log is\n%s", len(got), n, l.log)
		}
	}
}

func stopped(t *testing.T, stop func() error) {
	t.Helper()
	if err := stop(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// text is a message from the agent.
func text(chat, s string) channel.Outgoing {
	return channel.Outgoing{ID: "out-1", Chat: chat, Text: rich.Plain(s)}
}

// classOf returns the class of an error, "" for none.
func classOf(t *testing.T, err error) channel.FailureClass {
	t.Helper()
	if err == nil {
		return ""
	}
	f := (*channel.Failure)(nil)
	if !errors.As(err, &f) {
		t.Fatalf("%v is no failure", err)
	}
	return f.Class
}
