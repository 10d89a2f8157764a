package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest"
	"org-agent/kernel/channel/webhook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const token = "canary-0123456789abcdef"

// memory keeps a state.
type memory struct{ sync.Map }

func (m *memory) Load(_ context.Context, key string) (string, error) {
	value, _ := m.Map.Load(key)
	text, _ := value.(string)
	return text, nil
}

func (m *memory) Store(_ context.Context, key, value string) error {
	m.Map.Store(key, value)
	return nil
}

// said is a message as a program says it.
type said struct {
	ID          string   `json:"id"`
	Chat        string   `json:"chat"`
	Sender      sender   `json:"sender"`
	Text        string   `json:"text,omitempty"`
	ReplyTo     string   `json:"reply_to,omitempty"`
	Group       bool     `json:"group,omitempty"`
	Mentions    bool     `json:"mentions,omitempty"`
	Attachments []upload `json:"attachments,omitempty"`
}

type sender struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type upload struct {
	Name  string `json:"name"`
	Media string `json:"media"`
	Data  []byte `json:"data"`
}

// heard is a message of the agent.
type heard struct {
	Number  int64
	ID      string
	Chat    string
	Text    string
	HTML    string
	ReplyTo string `json:"reply_to"`
	File    *upload
}

// program is a program that says messages, each again until it is taken, and fetches or is sent what the agent says.
type program struct {
	address string
	state   memory
	client  *http.Client

	mutex  sync.Mutex
	name   string
	number int
	all    []said
	queue  chan said

	receiver *httptest.Server // nil for a program that fetches
	arrived  []heard
	limited  time.Duration
	lose     bool
	away     bool
}

// open starts a program; with push, it is sent what the agent says.
func open(t *testing.T, push bool) *program {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &program{address: free.Addr().String(), client: &http.Client{Transport: &http.Transport{}}, name: "Ada", queue: make(chan said, 1000)}
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	if push {
		p.receiver = httptest.NewServer(http.HandlerFunc(p.receive))
		t.Cleanup(p.receiver.Close)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var talking sync.WaitGroup
	talking.Go(func() { p.talk(ctx) })
	t.Cleanup(func() {
		cancel()
		talking.Wait()
		p.client.CloseIdleConnections()
	})
	return p
}

// talk says what is in the queue until it is taken.
func (p *program) talk(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-p.queue:
			body, _ := json.Marshal(m)
			for ctx.Err() == nil && p.post(ctx, body) != http.StatusOK {
				time.Sleep(5 * time.Millisecond)
			}
		}
	}
}

func (p *program) post(ctx context.Context, body []byte) int {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.address+"/messages", bytes.NewReader(body))
	if err != nil {
		return 0
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := p.client.Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

func (p *program) config() webhook.Config {
	c := webhook.Config{Token: token, Listen: p.address, State: &p.state}
	if p.receiver != nil {
		c.URL = p.receiver.URL
	}
	return c
}

func (p *program) Driver(*testing.T) channel.Driver { return webhook.New(p.config()) }
func (p *program) Chat() string                     { return "room/1 ü" }

func (p *program) Say(_ *testing.T, line channeltest.Line) string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.number++
	m := said{ID: fmt.Sprint("m", p.number), Chat: p.Chat(), Sender: sender{"ada", p.name}, Text: line.Text, ReplyTo: line.ReplyTo}
	for _, f := range line.Files {
		m.Attachments = append(m.Attachments, upload{f.Name, f.Media, f.Data})
	}
	p.all = append(p.all, m)
	p.queue <- m
	return m.ID
}

func (p *program) Uploads(int) bool { return true }

func (p *program) Secrets() []string { return []string{token} }

func (p *program) Rename(_ *testing.T, name string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.name = name
}

func (p *program) Drop(*testing.T) { p.client.CloseIdleConnections() }

// fetched returns what the agent said behind a message.
func (p *program) fetched(t *testing.T, after int64, wait int) []heard {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.address+"/messages?chat=room%2F1+%C3%BC&after="+strconv.FormatInt(after, 10)+"&wait="+strconv.Itoa(wait), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := p.client.Do(request)
	if err != nil {
		return nil
	}
	defer response.Body.Close()
	var all struct{ Messages []heard }
	if err := json.NewDecoder(response.Body).Decode(&all); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("status %d, %v", response.StatusCode, err)
	}
	return all.Messages
}

func (p *program) Seen(t *testing.T) (seen []channeltest.Seen) {
	p.mutex.Lock()
	all := p.arrived
	p.mutex.Unlock()
	if p.receiver == nil {
		all = p.fetched(t, 0, 0)
	}
	for _, h := range all {
		s := channeltest.Seen{ID: h.ID, Text: h.Text, ReplyTo: h.ReplyTo}
		if h.File != nil {
			s.File = &channeltest.Upload{Name: h.File.Name, Media: h.File.Media, Data: h.File.Data}
		}
		seen = append(seen, s)
	}
	return seen
}

// pushed is a program that is sent what the agent says.
type pushed struct{ *program }

func (p pushed) Limit(_ *testing.T, wait time.Duration) { p.set(func() { p.limited = wait }) }
func (p pushed) Lose(*testing.T)                        { p.set(func() { p.lose = true }) }
func (p pushed) Stop(*testing.T)                        { p.set(func() { p.away = true }) }
func (p pushed) Start(*testing.T)                       { p.set(func() { p.away = false }) }

func (p pushed) set(change func()) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	change()
}

// receive takes what the agent says.
func (p *program) receive(w http.ResponseWriter, r *http.Request) {
	var h heard
	body, _ := io.ReadAll(r.Body)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	switch {
	case r.Header.Get("Authorization") != "Bearer "+token || r.Method != http.MethodPost || json.Unmarshal(body, &h) != nil:
		w.WriteHeader(http.StatusUnauthorized)
	case p.away:
		panic(http.ErrAbortHandler)
	case p.limited > 0:
		w.Header().Set("Retry-After", strconv.Itoa(int(p.limited/time.Second)))
		w.WriteHeader(http.StatusTooManyRequests)
		p.limited = 0
	default:
		p.arrived = append(p.arrived, h)
		if p.lose {
			p.lose = false
			panic(http.ErrAbortHandler)
		}
	}
}

// TestFetched and TestPushed hold both ways against what every driver keeps.
func TestFetched(t *testing.T) {
	channeltest.DriverSuite(t, func(t *testing.T) channeltest.Fixture { return open(t, false) })
}

func TestPushed(t *testing.T) {
	channeltest.DriverSuite(t, func(t *testing.T) channeltest.Fixture { return pushed{open(t, true)} })
}
