package matrix_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest"
	"org-agent/kernel/channel/channeltest/matrixtest"
	"org-agent/kernel/channel/matrix"
	"org-agent/kernel/secret"
)

// memory is a channel.State that lasts as long as a test.
type memory struct {
	mutex  sync.Mutex
	values map[string]string
}

func (m *memory) Load(_ context.Context, key string) (string, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.values[key], nil
}

func (m *memory) Store(_ context.Context, key, value string) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.values == nil {
		m.values = map[string]string{}
	}
	m.values[key] = value
	return nil
}

// home is a server with a room of Ada's and the agent's.
type home struct {
	*matrixtest.Server
	room  string
	state *memory
}

func newHome(t *testing.T) *home {
	s := matrixtest.New(t)
	return &home{Server: s, room: s.Room("!Loft:test", false), state: &memory{}}
}

func (h *home) config() matrix.Config {
	return matrix.Config{
		URL: h.URL, Token: secret.Text(matrixtest.Token), State: h.state, Logger: slog.New(slog.DiscardHandler),
		HTTP:  &http.Client{Transport: &http.Transport{}},
		Pause: 5 * time.Millisecond, LongestPause: 50 * time.Millisecond, MayInvite: func(sender string) bool { return sender == matrixtest.Ada },
	}
}

func (h *home) Driver(*testing.T) channel.Driver { return matrix.New(h.config()) }
func (h *home) Chat() string                     { return h.room }
func (h *home) Secrets() []string                { return []string{matrixtest.Token} }
func (h *home) Uploads(size int) bool            { return size <= 20<<20 }
func (h *home) Stop(*testing.T)                  { h.Server.Stop() }
func (h *home) Start(t *testing.T)               { h.Server.Start(t) }
func (h *home) Drop(*testing.T)                  { h.Server.Drop() }
func (h *home) Expire(*testing.T)                { h.Server.Expire() }
func (h *home) Typing(*testing.T) bool           { return h.Server.Typing(h.room) }

func (h *home) Rename(_ *testing.T, name string) {
	h.Member(h.room, matrixtest.Ada, matrixtest.Ada, "join", name)
}

func (h *home) Say(_ *testing.T, line channeltest.Line) string {
	content := matrixtest.Object{"msgtype": "m.text", "body": line.Text}
	for _, file := range line.Files {
		kind, _, _ := strings.Cut(file.Media, "/")
		msgtype := map[string]string{"image": "m.image", "audio": "m.audio", "video": "m.video"}[kind]
		if msgtype == "" {
			msgtype = "m.file"
		}
		content = matrixtest.Object{"msgtype": msgtype, "body": file.Name, "filename": file.Name, "url": h.Upload(file.Media, file.Data), "info": matrixtest.Object{"mimetype": file.Media, "size": len(file.Data)}}
		if line.Text != "" {
			content["body"] = line.Text
		}
	}
	if line.ReplyTo != "" {
		content["m.relates_to"] = matrixtest.Object{"m.in_reply_to": matrixtest.Object{"event_id": line.ReplyTo}}
	}
	return h.Post(h.room, matrixtest.Ada, "m.room.message", content)
}

func (h *home) Change(_ *testing.T, id, text string) {
	h.Post(h.room, matrixtest.Ada, "m.room.message", edit(id, text))
}

func edit(id, text string) matrixtest.Object {
	return matrixtest.Object{
		"msgtype": "m.text", "body": "* " + text, "m.new_content": matrixtest.Object{"msgtype": "m.text", "body": text},
		"m.relates_to": matrixtest.Object{"rel_type": "m.replace", "event_id": id},
	}
}

func (h *home) Remove(_ *testing.T, id string) { h.Redact(h.room, matrixtest.Ada, id) }

func (h *home) PersonReacts(_ *testing.T, id, emoji string, remove bool) {
	if !remove {
		h.Post(h.room, matrixtest.Ada, "m.reaction", matrixtest.Object{"m.relates_to": matrixtest.Object{"rel_type": "m.annotation", "event_id": id, "key": emoji}})
		return
	}
	for _, e := range h.Of(h.room, matrixtest.Ada, "m.reaction") {
		if relation := e.Content["m.relates_to"].(matrixtest.Object); relation["event_id"] == id && relation["key"] == emoji {
			h.Redact(h.room, matrixtest.Ada, e.ID)
		}
	}
}

func (h *home) Reactions(_ *testing.T, id string) (emoji []string) {
	for _, e := range h.Of(h.room, matrixtest.Agent, "m.reaction") {
		if relation := e.Content["m.relates_to"].(matrixtest.Object); relation["event_id"] == id && relation["rel_type"] == "m.annotation" {
			emoji = append(emoji, relation["key"].(string))
		}
	}
	return emoji
}

// Seen shows what a program such as Element shows: the newest text of each message.
func (h *home) Seen(t *testing.T) (all []channeltest.Seen) {
	t.Helper()
	for _, e := range h.Of(h.room, matrixtest.Agent, "m.room.message") {
		relation, _ := e.Content["m.relates_to"].(matrixtest.Object)
		text, _ := e.Content["body"].(string)
		if relation["rel_type"] == "m.replace" {
			i := slices.IndexFunc(all, func(s channeltest.Seen) bool { return s.ID == relation["event_id"] })
			if i >= 0 {
				all[i].Text = e.Content["m.new_content"].(matrixtest.Object)["body"].(string)
			}
			continue
		}
		one := channeltest.Seen{ID: e.ID, Text: text}
		if answered, _ := relation["m.in_reply_to"].(matrixtest.Object); answered != nil {
			one.ReplyTo, _ = answered["event_id"].(string)
		}
		if address, _ := e.Content["url"].(string); address != "" {
			media, data, ok := h.File(address)
			if !ok {
				t.Fatalf("the file %s is not there", address)
			}
			one.File = &channeltest.Upload{Name: e.Content["filename"].(string), Media: media, Data: data}
			if one.Text == one.File.Name {
				one.Text = ""
			}
		}
		all = append(all, one)
	}
	return all
}

// isSend reports whether a request sends a message.
func isSend(r *http.Request) bool { return strings.Contains(r.URL.Path, "/send/m.room.message/") }

func (h *home) Limit(_ *testing.T, wait time.Duration) {
	var once sync.Once
	h.Fault(func(w http.ResponseWriter, r *http.Request) (answered bool) {
		if isSend(r) {
			once.Do(func() { matrixtest.Limit(w, int(wait.Milliseconds())); answered = true })
		}
		return answered
	})
}

// Lose has the server take the next message, and end the connection in place of the answer.
func (h *home) Lose(*testing.T) {
	var once sync.Once
	h.Fault(func(_ http.ResponseWriter, r *http.Request) bool {
		if isSend(r) {
			once.Do(func() {
				h.Fault(nil)
				h.ServeHTTP(nowhere{http.Header{}}, r)
				panic(http.ErrAbortHandler)
			})
		}
		return false
	})
}

// nowhere is an answer that nobody gets.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header       { return n.header }
func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) WriteHeader(int)             {}

func TestDriverSuite(t *testing.T) {
	channeltest.DriverSuite(t, func(t *testing.T) channeltest.Fixture { return newHome(t) })
}

// watched is a driver that is run, and what it delivered.
type watched struct {
	*matrix.Driver
	t      *testing.T
	cancel context.CancelFunc
	ended  chan error
	mutex  sync.Mutex
	all    []channel.Message
}

// watch runs a driver until the test ends, or until stop.
func watch(t *testing.T, c matrix.Config) *watched {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	w := &watched{Driver: matrix.New(c), t: t, cancel: cancel, ended: make(chan error, 1)}
	go func() {
		w.ended <- w.Run(ctx, func(_ context.Context, m channel.Message) error {
			w.mutex.Lock()
			defer w.mutex.Unlock()
			w.all = append(w.all, m)
			return nil
		})
	}()
	t.Cleanup(w.stop)
	return w
}

func (w *watched) stop() {
	w.cancel()
	if err, ok := <-w.ended; ok {
		close(w.ended)
		if err != nil {
			w.t.Errorf("it ended with %v", err)
		}
	}
}

// messages returns what was delivered since the test looked last, when there are n.
func (w *watched) messages(n int) []channel.Message {
	w.t.Helper()
	var all []channel.Message
	eventually(w.t, func() error {
		w.mutex.Lock()
		defer w.mutex.Unlock()
		if len(w.all) < n {
			return fmt.Errorf("%d messages of %d came: %+v", len(w.all), n, w.all)
		}
		all, w.all = w.all, nil
		return nil
	})
	if len(all) != n {
		w.t.Fatalf("%d messages came and not %d: %+v", len(all), n, all)
	}
	return all
}

func eventually(t *testing.T, wrong func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if err = wrong(); err == nil {
			return
		}
	}
	t.Fatalf("after 20 s, %v", err)
}
