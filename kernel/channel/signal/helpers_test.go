package signal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest/signaltest"
)

// TestMain fails if a goroutine is left when the tests have ended.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	agent = signaltest.Account{Number: "+4915100000001", UUID: "aaaaaaaa-0000-4000-8000-000000000001"}
	ada   = signaltest.Account{Number: "+33123456789", UUID: "bbbbbbbb-0000-4000-8000-000000000002"}
	bob   = signaltest.Account{Number: "+440123456789", UUID: "cccccccc-0000-4000-8000-000000000003"}
)

const (
	groupID    = "Pmpi+EfPWmsxiomLe9Nx2XF9HOE483p6iKiFj65iMwI="
	groupOfAda = "group.Pmpi-EfPWmsxiomLe9Nx2XF9HOE483p6iKiFj65iMwI"
)

// memory is a state of a driver that outlives it.
type memory struct {
	mutex  sync.Mutex
	values map[string]string
	fails  error
}

func (m *memory) Load(_ context.Context, key string) (string, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.values[key], m.fails
}

func (m *memory) Store(_ context.Context, key, value string) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.values == nil {
		m.values = map[string]string{}
	}
	m.values[key] = value
	return m.fails
}

// start starts a daemon with the people of the tests.
func start(t *testing.T, c signaltest.Config) *signaltest.Server {
	t.Helper()
	if c.Account.Number == "" {
		c.Account = agent
	}
	s := signaltest.Start(t, c)
	s.Register(ada)
	s.Register(bob)
	s.AddGroup(groupID)
	return s
}

// running is a driver that is run.
type running struct {
	*Driver
	t      *testing.T
	server *signaltest.Server

	mutex   sync.Mutex
	took    []channel.Message
	refuses func(m channel.Message) error

	ending context.CancelFunc
	ended  chan error
}

// run runs a driver with a state until the test ends or stop is called.
func run(t *testing.T, s *signaltest.Server, state channel.State) *running {
	t.Helper()
	return runWith(t, s, Config{Account: agent.Number, Address: s.Address(), State: state})
}

func runWith(t *testing.T, s *signaltest.Server, c Config) *running {
	t.Helper()
	c.Pause, c.LongestPause = 20*time.Millisecond, 100*time.Millisecond
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	ctx, ending := context.WithCancel(context.Background())
	r := &running{Driver: New(c), t: t, server: s, ending: ending, ended: make(chan error, 1)}
	r.limits.box = 1 << 20
	go func() { r.ended <- r.Run(ctx, r.receive) }()
	t.Cleanup(func() {
		ending()
		if err := <-r.ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
	return r
}

// connected waits until it is connected.
func (r *running) connected() *running {
	r.t.Helper()
	r.until("the connection", func() bool { return r.link.Load() != nil })
	return r
}

// until waits until something holds, and fails the test after ten seconds.
func (r *running) until(what string, holds func() bool) {
	r.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("it never came: %s", what)
		}
	}
}

// stop ends the driver, and waits for it.
func (r *running) stop() {
	r.t.Helper()
	r.ending()
	err := <-r.ended
	r.ended <- err
}

func (r *running) receive(_ context.Context, m channel.Message) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.refuses != nil {
		if err := r.refuses(m); err != nil {
			return err
		}
	}
	r.took = append(r.took, m)
	return nil
}

// messages returns what was taken.
func (r *running) messages() []channel.Message {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return append([]channel.Message(nil), r.took...)
}

// wait waits until n messages were taken, and returns them.
func (r *running) wait(n int) []channel.Message {
	r.t.Helper()
	r.until(fmt.Sprint(n, " messages"), func() bool { return len(r.messages()) >= n })
	return r.messages()
}

// quiet makes sure that no more messages come, and returns those that did.
func (r *running) quiet() []channel.Message {
	time.Sleep(100 * time.Millisecond)
	return r.messages()
}

// said is an envelope with a text of Ada.
func said(timestamp int64, text string) string {
	return fmt.Sprintf(`{"source":%q,"sourceNumber":%[1]q,"sourceUuid":%q,"sourceName":"Ada","sourceDevice":1,"timestamp":%d,"dataMessage":{"timestamp":%[3]d,"message":%q,"expiresInSeconds":0,"viewOnce":false}}`,
		ada.Number, ada.UUID, timestamp, text)
}

// texts returns the texts of messages.
func texts(messages []channel.Message) (list []string) {
	for _, m := range messages {
		list = append(list, m.Text)
	}
	return list
}

// class returns the class of a failure, "" for none.
func class(err error) channel.FailureClass {
	var failure *channel.Failure
	if errors.As(err, &failure) {
		return failure.Class
	}
	return ""
}
