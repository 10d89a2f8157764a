package daemon_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// BenchmarkTurn is the time from sending an event to the act's arrival. With
// model=none a skill answers by itself: the kernel's own time. With model=instant
// it includes a request to a local server that answers at once.
func BenchmarkTurn(b *testing.B) {
	for _, model := range []string{"none", "instant"} {
		for _, conversations := range []int{1, 200} {
			b.Run(fmt.Sprintf("model=%s/conversations=%d", model, conversations), func(b *testing.B) {
				in := newInstance(b, llmtest.Exchange{Reply: insertion("Hello"), Times: -1})
				if model == "none" {
					in.write(b, "skills/mine.org", deciding(`(defun think (c) (list :type :response :text (words c)))
(defskill :mine :priority 90 :trigger #'chosen :neuro #'think)`))
				}
				in.start(b)
				took := make([]time.Duration, b.N)
				var work sync.WaitGroup
				b.ResetTimer()
				for c := range min(conversations, b.N) {
					work.Go(func() {
						t := openTalk(b, in, fmt.Sprintf("s%d", c))
						defer t.conn.Close()
						for i := c; i < b.N; i += conversations {
							took[i] = t.turn(b)
						}
					})
				}
				work.Wait()
				b.StopTimer()
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
			})
		}
	}
}

// talk is an Emacs that only measures: it keeps the conversation's file, and so
// the kernel does not write it.
type talk struct {
	conn    *rpc.Conn
	session string
	acts    chan time.Time
	ends    chan struct{}
}

func openTalk(b *testing.B, in *instance, session string) *talk {
	t := &talk{session: session, acts: make(chan time.Time, 1), ends: make(chan struct{}, 1)}
	handler := func(_ context.Context, r *rpc.Request) (any, error) {
		switch r.Method {
		case protocol.MethodAct:
			t.acts <- time.Now()
			return protocol.Receipt{Done: true, Saved: true}, nil
		case protocol.MethodTurnFinished:
			t.ends <- struct{}{}
		}
		return nil, nil
	}
	conn, err := rpc.Dial(context.Background(), rpc.DialConfig{
		Socket: in.paths.Socket, Token: in.token(b), Codec: rpc.Plist, Handler: handler,
		Client: protocol.ClientInfo{Name: "emacs", Capabilities: protocol.Capabilities{KeepsFile: true, Streams: true}},
	})
	if err != nil {
		b.Error(err)
		return t
	}
	t.conn = conn
	err = conn.Call(context.Background(), protocol.MethodSessionLoad,
		protocol.SessionLoadParams{Session: session, Watch: true}, nil)
	if err != nil {
		b.Error(err)
	}
	return t
}

// turn sends one message and waits for its end; the time is that to the act.
func (t *talk) turn(b *testing.B) time.Duration {
	began := time.Now()
	err := t.conn.Call(context.Background(), protocol.MethodEvent, protocol.Object{
		{Key: "sensor", Value: protocol.Keyword("chat-message")}, {Key: "session", Value: t.session}, {Key: "text", Value: "hi"},
	}, nil)
	if err != nil {
		b.Error(err)
		return 0
	}
	at := <-t.acts
	<-t.ends
	return at.Sub(began)
}
