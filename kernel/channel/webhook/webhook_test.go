package webhook_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest"
	"org-agent/kernel/channel/rich"
	"org-agent/kernel/channel/webhook"
	"org-agent/kernel/secret"
)

// run runs a driver until the test ends, and returns what it delivers.
func run(t *testing.T, p *program) (d *webhook.Driver, delivered chan channel.Message) {
	t.Helper()
	d, delivered = webhook.New(p.config()), make(chan channel.Message, 100)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- d.Run(ctx, func(_ context.Context, m channel.Message) error { delivered <- m; return nil })
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	for p.post(t.Context(), nil) == 0 {
		time.Sleep(time.Millisecond)
	}
	return d, delivered
}

// TestRefusals: what is not a program with the token, or no message, is refused and not delivered.
func TestRefusals(t *testing.T) {
	p := open(t, false)
	_, delivered := run(t, p)
	const good = `{"id": "1", "chat": "a", "sender": {"id": "ada"}, "text": "hi"}`
	for name, c := range map[string]struct {
		method, path, body, header, value string
		status                            int
	}{
		"no token":            {"POST", "/messages", good, "Authorization", "", 401},
		"another token":       {"POST", "/messages", good, "Authorization", "Bearer " + token[1:], 401},
		"the token as basic":  {"POST", "/messages", good, "Authorization", "Basic " + token, 401},
		"fetching without":    {"GET", "/messages?chat=a&wait=0", "", "Authorization", "", 401},
		"a browser's page":    {"POST", "/messages", good, "Origin", "http://127.0.0.1", 403},
		"a browser":           {"POST", "/messages", good, "Sec-Fetch-Site", "same-origin", 403},
		"a rebound name":      {"POST", "/messages", good, "Host", "evil.example", 403},
		"another machine":     {"POST", "/messages", good, "Host", "192.0.2.1:80", 403},
		"a form":              {"POST", "/messages", good, "Content-Type", "text/plain", 415},
		"another method":      {"PUT", "/messages", good, "", "", 405},
		"a preflight":         {"OPTIONS", "/messages", "", "", "", 405},
		"another path":        {"POST", "/", good, "", "", 404},
		"no JSON":             {"POST", "/messages", "hi", "", "", 400},
		"two messages":        {"POST", "/messages", good + good, "", "", 400},
		"an unknown field":    {"POST", "/messages", `{"id": "1", "chat": "a", "sender": {"id": "ada"}, "text": "hi", "owner": true}`, "", "", 400},
		"no id":               {"POST", "/messages", `{"chat": "a", "sender": {"id": "ada"}, "text": "hi"}`, "", "", 400},
		"an id of the agent":  {"POST", "/messages", `{"id": "agent:1", "chat": "a", "sender": {"id": "ada"}, "text": "hi"}`, "", "", 400},
		"no chat":             {"POST", "/messages", `{"id": "1", "sender": {"id": "ada"}, "text": "hi"}`, "", "", 400},
		"a long chat":         {"POST", "/messages", `{"id": "1", "chat": "` + strings.Repeat("a", 201) + `", "sender": {"id": "ada"}, "text": "hi"}`, "", "", 400},
		"no sender":           {"POST", "/messages", `{"id": "1", "chat": "a", "text": "hi"}`, "", "", 400},
		"nothing":             {"POST", "/messages", `{"id": "1", "chat": "a", "sender": {"id": "ada"}}`, "", "", 400},
		"no base64":           {"POST", "/messages", `{"id": "1", "chat": "a", "sender": {"id": "ada"}, "attachments": [{"data": "!"}]}`, "", "", 400},
		"too large":           {"POST", "/messages", `{"id": "1", "text": "` + strings.Repeat("a", 16<<20) + `"}`, "", "", 413},
		"fetching from where": {"GET", "/messages?wait=0", "", "", "", 400},
		"no number":           {"GET", "/messages?chat=a&after=x", "", "", "", 400},
		"a negative number":   {"GET", "/messages?chat=a&after=-1", "", "", "", 400},
		"no time":             {"GET", "/messages?chat=a&wait=long", "", "", "", 400},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+p.address+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("Content-Type", "application/json")
		if c.header == "Host" {
			request.Host = c.value
		} else if c.header != "" {
			request.Header.Set(c.header, c.value)
		}
		response, err := p.client.Do(request)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if response.StatusCode != c.status || response.Header.Get("Access-Control-Allow-Origin") != "" || strings.Contains(string(text), token) {
			t.Errorf("%s: the status is %d and not %d: %s", name, response.StatusCode, c.status, text)
		}
	}
	if len(delivered) > 0 {
		t.Errorf("delivered: %+v", <-delivered)
	}
	if status := p.post(t.Context(), []byte(good)); status != 200 || (<-delivered).Text != "hi" {
		t.Errorf("a good message has the status %d", status)
	}
}

// TestFlags: what a program says of a message is delivered.
func TestFlags(t *testing.T) {
	p := open(t, false)
	_, delivered := run(t, p)
	p.post(t.Context(), []byte(`{"id": "1", "chat": "a", "title": "All", "group": true, "mentions": true, "sender": {"id": "ada", "name": "Ada", "username": "@ada"}, "reply_to": "agent:7",
		"sent": "2026-12-01T10:00:00Z", "attachments": [{"name": "a.ogg", "media": "audio/ogg", "voice": true, "data": "aGk="}]}`))
	m := <-delivered
	if m.Chat != (channel.Chat{ID: "a", Title: "All", Group: true}) || !m.Mentions || m.Sender != (channel.Person{ID: "ada", Name: "Ada", Username: "@ada"}) ||
		m.Reply == nil || !m.Reply.ToMe || m.Reply.ID != "agent:7" || !m.Sent.Equal(time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)) || len(m.Attachments) != 1 || !m.Attachments[0].Voice {
		t.Errorf("%+v", m)
	}
}

func out(id string) channel.Outgoing {
	return channel.Outgoing{ID: id, Chat: "room/1 ü", Text: rich.Text{Plain: "a <b>", Spans: []rich.Span{{Start: 0, End: 1, Style: rich.Bold}}}}
}

// TestWaiting: a program that waits gets a message when it is said, and what it has not fetched after a restart, too.
func TestWaiting(t *testing.T) {
	p := open(t, false)
	t.Run("first", func(t *testing.T) {
		d, _ := run(t, p)
		got := make(chan []heard, 1)
		go func() { got <- p.fetched(t, 0, 30) }()
		time.Sleep(20 * time.Millisecond)
		if _, err := d.Send(t.Context(), out("a1")); err != nil {
			t.Fatal(err)
		}
		if all := <-got; len(all) != 1 || all[0].HTML != "<strong>a</strong> &lt;b&gt;" || all[0].ID != "agent:1" {
			t.Errorf("%+v", all)
		}
		if _, err := d.Send(t.Context(), out("a2")); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("second", func(t *testing.T) {
		d, _ := run(t, p)
		if all := p.fetched(t, 1, 0); len(all) != 1 || all[0].ID != "agent:2" {
			t.Errorf("%+v", all)
		}
		if again, err := d.Send(t.Context(), out("a2")); err != nil || again != "agent:2" {
			t.Errorf("%s, %v", again, err)
		}
		if third, err := d.Send(t.Context(), out("a3")); err != nil || third != "agent:3" {
			t.Errorf("%s, %v", third, err)
		}
	})
}

// TestNobodyFetches: what is kept is bounded, and nothing that was not fetched is lost for it.
func TestNobodyFetches(t *testing.T) {
	p := open(t, false)
	d, _ := run(t, p)
	large := make([]byte, 1<<20)
	n := 0
	for ; ; n++ {
		message := out(fmt.Sprint("f", n))
		message.File = channeltest.File("f", "text/plain", large)
		if _, err := d.Send(t.Context(), message); err != nil {
			break
		}
	}
	if n < 5 || n > 16 {
		t.Errorf("%d MB are kept", n)
	}
	for ; ; n++ {
		if _, err := d.Send(t.Context(), out(fmt.Sprint("a", n))); err != nil {
			break
		}
		if n > 300 {
			t.Fatal("more than 300 messages are kept")
		}
	}
	all := p.fetched(t, 0, 0)
	if len(all) != n {
		t.Errorf("%d of %d messages are there", len(all), n)
	}
	p.fetched(t, all[9].Number, 0)
	for i := range 10 {
		if _, err := d.Send(t.Context(), out(fmt.Sprint("b", i))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.Send(t.Context(), out("c")); err == nil {
		t.Error("a message that was not fetched made room for another")
	}
	if rest := p.fetched(t, all[9].Number, 0); len(rest) != n {
		t.Errorf("%d of %d messages are there", len(rest), n)
	}
}

// TestSettings: what is not of this machine is refused before anything listens.
func TestSettings(t *testing.T) {
	good := webhook.Config{Token: token, Listen: "127.0.0.1:0", State: &memory{}}
	for name, change := range map[string]func(c *webhook.Config){
		"a short token":       func(c *webhook.Config) { c.Token = "short" },
		"all interfaces":      func(c *webhook.Config) { c.Listen = ":4712" },
		"0.0.0.0":             func(c *webhook.Config) { c.Listen = "0.0.0.0:4712" },
		"another machine":     func(c *webhook.Config) { c.Listen = "192.0.2.1:4712" },
		"a name":              func(c *webhook.Config) { c.Listen = "example.org:4712" },
		"no port":             func(c *webhook.Config) { c.Listen = "127.0.0.1" },
		"no state":            func(c *webhook.Config) { c.State = nil },
		"a URL of the web":    func(c *webhook.Config) { c.URL = "http://example.org/hook" },
		"a URL with a secret": func(c *webhook.Config) { c.URL = "http://a:canary@127.0.0.1/" },
		"no URL":              func(c *webhook.Config) { c.URL = "127.0.0.1:80" },
	} {
		c := good
		change(&c)
		err := webhook.New(c).Run(t.Context(), nil)
		if err == nil || strings.Contains(err.Error(), "canary") || !strings.HasPrefix(err.Error(), "the channel webhook: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := open(t, false)
	run(t, p)
	if err := webhook.New(p.config()).Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "LISTEN") {
		t.Errorf("where another listens: %v", err)
	}
}

// TestRefusedByTheProgram: the statuses of a program say what they mean to the sender.
func TestRefusedByTheProgram(t *testing.T) {
	p := open(t, true)
	c := p.config()
	c.Token = secret.Text("another-token-of-some-length")
	_, err := webhook.New(c).Send(t.Context(), out("a1"))
	if f, ok := err.(*channel.Failure); !ok || f.Class != channel.Unauthorized {
		t.Errorf("with another token: %v", err)
	}
	p.receiver.Close()
	d := webhook.New(p.config())
	_, err = d.Send(t.Context(), out("a1"))
	if f, ok := err.(*channel.Failure); !ok || f.Class != channel.Temporary || strings.Contains(err.Error(), token) {
		t.Errorf("nobody listens: %v", err)
	}
}
