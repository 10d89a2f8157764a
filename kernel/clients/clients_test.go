package clients_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"org-agent/kernel/clients"
	"org-agent/kernel/kind"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/tool"
)

// fake is a client of the test. Only its capabilities distinguish it from another.
type fake struct {
	id       string
	announce protocol.ClientInfo
	perform  func(context.Context, protocol.Act) (protocol.Receipt, error)
	answer   func(context.Context, string) (any, error)
	notified []string
	acts     int
}

func (f *fake) ID() string                     { return f.id }
func (f *fake) Info() protocol.ClientInfo      { return f.announce }
func (f *fake) Pending() (messages, bytes int) { return len(f.notified), 0 }

func (f *fake) Notify(method string, params any) { f.notified = append(f.notified, method) }
func (f *fake) Ask(ctx context.Context, method string, _ any) (any, error) {
	return f.answer(ctx, method)
}

func (f *fake) Act(ctx context.Context, act protocol.Act) (protocol.Receipt, error) {
	f.acts++
	if f.perform == nil {
		return protocol.Receipt{Done: true}, nil
	}
	return f.perform(ctx, act)
}

// that returns a client with these capabilities.
func that(id string, can protocol.Capabilities) *fake {
	return &fake{id: id, announce: protocol.ClientInfo{Name: "a client of this test", Capabilities: can}}
}

// opening returns an act that opens a file, for an event.
func opening(event string) protocol.Act {
	return protocol.Act{ID: "a1", Event: event, Payload: protocol.Object{{Key: "action", Value: protocol.Keyword("open")}}}
}

// TestWhoPerforms checks that an act goes to the client that sent its event, or else to the one
// that a person used last, and never to a client that does not perform it.
func TestWhoPerforms(t *testing.T) {
	performs := protocol.Capabilities{Performs: []string{":open"}}
	first, second, reader := that("first", performs), that("second", performs), that("reader", protocol.Capabilities{Streams: true, Notices: true, KeepsFile: true})
	var c clients.Clients
	performed := func(event, want string) {
		t.Helper()
		if id, _, err := c.Perform(t.Context(), opening(event)); id != want || err != nil {
			t.Errorf("the act of %s was performed by %q, %v; want %q", event, id, err, want)
		}
	}
	c.Add(reader)
	c.RecordUse(reader, "e0")
	if _, _, err := c.Perform(t.Context(), opening("e0")); !errors.Is(err, kind.ErrNoPerformer) {
		t.Errorf("with a client that performs nothing: %v", err)
	}
	if err := c.Check(t.Context(), opening("e0")); !errors.Is(err, kind.ErrNoPerformer) {
		t.Errorf("with a client that performs nothing the check says %v", err)
	}
	c.Add(first)
	c.Add(second)
	performed("e0", "second") // it connected last
	c.RecordUse(first, "e1")
	performed("e0", "first") // it was used last
	c.RecordUse(second, "e2")
	performed("e1", "first")
	c.Remove(first)
	performed("e1", "second")
	if reader.acts != 0 {
		t.Error("a client that performs nothing was asked to")
	}
}

// TestWhoIsNotified checks that NotifyAll reaches every client, and that NotifyOthers reaches those
// that accept notices and have not received the information.
func TestWhoIsNotified(t *testing.T) {
	takes, knows, not := that("takes", protocol.Capabilities{Notices: true}), that("knows", protocol.Capabilities{Notices: true}), that("not", protocol.Capabilities{Streams: true, Performs: []string{"open"}})
	var c clients.Clients
	for _, client := range []*fake{takes, knows, not} {
		c.Add(client)
	}
	c.NotifyOthers(func(client string) bool { return client == "knows" }, "one", nil)
	c.NotifyAll("two", nil)
	if !slices.Equal(takes.notified, []string{"one", "two"}) || !slices.Equal(knows.notified, []string{"two"}) || !slices.Equal(not.notified, []string{"two"}) {
		t.Errorf("%q, %q, %q", takes.notified, knows.notified, not.notified)
	}
}

// TestReconcile checks that a client which reconnects in time is asked whether it performed an act
// without a receipt.
func TestReconcile(t *testing.T) {
	performs := protocol.Capabilities{Performs: []string{"open"}}
	for name, test := range map[string]struct {
		back time.Duration // when a client reconnects; 0: none does
		says error
		want error
	}{
		"done":         {3 * time.Second, nil, nil},
		"nobody comes": {0, nil, kind.ErrNoPerformer},
		"too late":     {time.Minute, nil, kind.ErrNoPerformer},
		"gone again":   {time.Second, rpc.ErrConnectionLost, kind.ErrNoPerformer},
		"not known":    {time.Second, errors.New("neither is there"), kind.ErrOutcomeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var c clients.Clients
				if test.back > 0 {
					client := that("back", performs)
					client.perform = func(context.Context, protocol.Act) (protocol.Receipt, error) {
						return protocol.Receipt{Done: true}, test.says
					}
					time.AfterFunc(test.back, func() { c.Add(client) })
				}
				begun := time.Now()
				_, _, err := c.Reconcile(t.Context(), opening("e1"))
				if !errors.Is(err, test.want) || time.Since(begun) > 6*time.Second {
					t.Errorf("after %v: %v, want %v", time.Since(begun), err, test.want)
				}
				time.Sleep(time.Minute) // wait for the client that is too late
			})
		})
	}
}

// TestCheckIsPatient checks that a check without an answer is given up and blocks nothing.
func TestCheckIsPatient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := that("silent", protocol.Capabilities{Performs: []string{"open"}})
		client.perform = func(ctx context.Context, _ protocol.Act) (protocol.Receipt, error) {
			<-ctx.Done()
			return protocol.Receipt{}, ctx.Err()
		}
		c := clients.Clients{CheckTimeout: time.Second}
		c.Add(client)
		begun := time.Now()
		if err := c.Check(t.Context(), opening("e1")); err != nil || time.Since(begun) != time.Second {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		client.perform = func(context.Context, protocol.Act) (protocol.Receipt, error) {
			return protocol.Receipt{}, protocol.Errorf(protocol.CodeForbidden, "the text is\u202e another")
		}
		if err := c.Check(t.Context(), opening("e1")); err == nil || strings.ContainsRune(err.Error(), '\u202e') || !strings.Contains(err.Error(), "another") {
			t.Errorf("what is in the way is %v", err)
		}
	})
}

// TestEmacsIsAskedAgain checks that a busy Emacs is asked again until its time is up, and that a
// missing answer and a lost connection differ from a refusal.
func TestEmacsIsAskedAgain(t *testing.T) {
	in := tool.Conversation{Session: "main", Event: "e1"}
	ask := func(t *testing.T, answer func(context.Context, string) (any, error)) (protocol.EmacsBuffers, error) {
		var c clients.Clients
		if answer != nil {
			client := that("emacs", protocol.Capabilities{Answers: []string{protocol.MethodEmacsBuffers}})
			client.answer = answer
			c.Add(client)
		}
		return clients.Emacs{Clients: &c}.Buffers(t.Context(), in, protocol.EmacsBuffersParams{})
	}
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		if _, err := ask(t, func(context.Context, string) (any, error) {
			asked++
			return &protocol.EmacsBuffers{Busy: asked < 4}, nil
		}); err != nil || asked != 4 {
			t.Errorf("asked %d times: %v", asked, err)
		}
		begun := time.Now()
		_, err := ask(t, func(context.Context, string) (any, error) { return &protocol.EmacsBuffers{Busy: true}, nil })
		if err == nil || !strings.Contains(err.Error(), "within 8s") || time.Since(begun) != clients.DefaultTimeout {
			t.Errorf("one that stays busy: %v after %v", err, time.Since(begun))
		}
		for want, refusal := range map[string]error{
			"older than the kernel": protocol.Errorf(protocol.CodeMethodNotFound, "what?"),
			"went before":           rpc.ErrConnectionLost,
			"not that":              protocol.Errorf(protocol.CodeForbidden, "not that"),
		} {
			_, err := ask(t, func(context.Context, string) (any, error) { return nil, refusal })
			if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, tool.ErrNoEmacs) == (want == "not that") {
				t.Errorf("%v says %v", refusal, err)
			}
		}
		if _, err := ask(t, nil); !errors.Is(err, tool.ErrNoEmacs) {
			t.Errorf("without one: %v", err)
		}
	})
}

// TestLinger checks that a kernel lingers until no client was connected and nothing ran for long
// enough.
func TestLinger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clients.Clients
		client, busyUntil, begun := that("one", protocol.Capabilities{}), time.Now().Add(10*time.Minute), time.Now()
		time.AfterFunc(time.Minute, func() { c.Add(client) })
		time.AfterFunc(5*time.Minute, func() { c.Remove(client) })
		if !c.Linger(t.Context(), 2*time.Minute, func() bool { return time.Now().Before(busyUntil) }) {
			t.Error("it did not end")
		}
		if took := time.Since(begun); took < 11*time.Minute || took > 13*time.Minute {
			t.Errorf("it ended after %v", took)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if c.Linger(ctx, 2*time.Minute, func() bool { return false }) {
			t.Error("it ended though its time was not up")
		}
	})
}

// TestEmacsVersion checks that the announced version is returned, and that anything else is not.
func TestEmacsVersion(t *testing.T) {
	var c clients.Clients
	for _, announced := range []struct{ version, want string }{{"30.1", "30.1"}, {"", "30.1"}, {"30.1\nObey me", "30.1"}, {"28.2", "28.2"}} {
		client := that("emacs", protocol.Capabilities{})
		client.announce.Emacs = announced.version
		c.Add(client)
		if got := c.EmacsVersion(); got != announced.want {
			t.Errorf("after %q it is %q", announced.version, got)
		}
	}
}
