package matrix_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest/matrixtest"
	"org-agent/kernel/channel/matrix"
)

// wire is the way to a homeserver that listens nowhere.
type wire struct {
	home     http.Handler
	away     atomic.Bool
	requests atomic.Int64
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.requests.Add(1)
	if w.away.Load() {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	}
	recorder := httptest.NewRecorder()
	w.home.ServeHTTP(recorder, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return recorder.Result(), nil
}

// TestHourWithoutHomeserver checks that a homeserver that is away for an hour is asked some times a minute at most, that
// nothing is lost by it, and that one that has nothing to say is asked twice a minute.
func TestHourWithoutHomeserver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		home := matrixtest.Unserved()
		h := &unserved{Server: home, room: home.Room("!Loft:test", false)}
		way := &wire{home: home}
		c := matrix.Config{URL: "http://matrix.test", Token: matrixtest.Token, State: &memory{}, HTTP: &http.Client{Transport: way}}
		w := watch(t, c)
		h.say("one")
		if m := w.messages(1)[0]; m.Text != "one" {
			t.Errorf("it is %+v", m)
		}
		before := way.requests.Load()
		time.Sleep(time.Hour)
		if n := way.requests.Load() - before; n < 100 || n > 130 {
			t.Errorf("in an hour in which nothing happened, there were %d requests", n)
		}

		way.away.Store(true)
		h.say("two")
		synctest.Wait()
		before = way.requests.Load()
		time.Sleep(time.Hour)
		if n := way.requests.Load() - before; n < 10 || n > 40 {
			t.Errorf("in an hour without a homeserver, there were %d requests", n)
		}
		_, err := w.Send(t.Context(), channel.Outgoing{ID: "a", Chat: h.room, Text: plain("hi")})
		wantClass(t, err, channel.Temporary)
		way.away.Store(false)
		h.say("three")
		time.Sleep(5 * time.Minute)
		got := w.messages(2)
		if got[0].Text != "two" || got[1].Text != "three" {
			t.Errorf("after it, there is %+v", got)
		}
		w.stop()
	})
}

// unserved is a homeserver that listens nowhere, with a room.
type unserved struct {
	*matrixtest.Server
	room string
}

func (h *unserved) say(text string) { h.Post(h.room, matrixtest.Ada, "m.room.message", said(text)) }
