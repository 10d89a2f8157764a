package telegram_test

import (
	"fmt"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest"
	"org-agent/kernel/channel/channeltest/telegramtest"
	"org-agent/kernel/channel/telegram"
)

// TestSuite holds the driver against what every driver keeps, over a socket.
func TestSuite(t *testing.T) {
	channeltest.DriverSuite(t, func(t *testing.T) channeltest.Fixture {
		server := telegramtest.New()
		return &phone{server: server, http: server.Start(t), state: &state{values: map[string]string{}}}
	})
}

// phone is Ada with her private chat.
type phone struct {
	server *telegramtest.Server
	http   *httptest.Server
	state  *state
	name   string // of Ada, that of the server if it is empty
}

func (p *phone) Driver(*testing.T) channel.Driver {
	return telegram.New(telegram.Config{Token: telegramtest.Token, URL: p.http.URL, State: p.state, Pause: time.Millisecond})
}

func (*phone) Chat() string { return ada }

// number returns the number of a message.
func number(t *testing.T, id string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimPrefix(id, ada+":"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (p *phone) Say(t *testing.T, line channeltest.Line) string {
	fields := map[string]any{}
	if p.name != "" {
		fields["from"] = map[string]any{"id": telegramtest.Ada, "is_bot": false, "first_name": p.name}
	}
	for _, f := range line.Files {
		kind := "document"
		if f.Voice {
			kind = "voice"
		}
		fields[kind] = map[string]any{"file_id": p.server.AddFile(f.Data), "file_unique_id": "u", "file_name": f.Name, "mime_type": f.Media, "file_size": len(f.Data)}
	}
	if text := "text"; line.Text != "" {
		if len(line.Files) > 0 {
			text = "caption"
		}
		fields[text] = line.Text
	}
	if line.ReplyTo != "" {
		fields["reply_to_message"] = p.answered(t, line.ReplyTo)
	}
	return fmt.Sprintf("%s:%d", ada, p.server.Say(telegramtest.Ada, fields))
}

// answered returns the message that another one answers.
func (p *phone) answered(t *testing.T, id string) map[string]any {
	n := number(t, id)
	for _, m := range p.server.Sent(telegramtest.Ada) {
		if m.ID == n {
			return p.server.Shown(telegramtest.Ada, n)
		}
	}
	return map[string]any{
		"message_id": n, "date": 1, "chat": map[string]any{"id": telegramtest.Ada, "type": "private"}, "from": map[string]any{"id": telegramtest.Ada, "first_name": "Ada"}, "text": "earlier",
	}
}

func (p *phone) Seen(*testing.T) (all []channeltest.Seen) {
	for _, m := range p.server.Sent(telegramtest.Ada) {
		seen := channeltest.Seen{ID: fmt.Sprintf("%s:%d", ada, m.ID), Text: m.Text}
		if m.ReplyTo != 0 {
			seen.ReplyTo = fmt.Sprintf("%s:%d", ada, m.ReplyTo)
		}
		if m.Name != "" {
			seen.File = &channeltest.Upload{Name: m.Name, Data: m.Data, Voice: m.Method == "sendVoice"}
		}
		for _, row := range m.Buttons {
			for _, b := range row {
				seen.Buttons = append(seen.Buttons, b.Text)
			}
		}
		all = append(all, seen)
	}
	return all
}

func (p *phone) Change(t *testing.T, id, text string) {
	p.server.Update("edited_message", map[string]any{
		"message_id": number(t, id), "date": time.Now().Unix(), "edit_date": time.Now().Unix(), "text": text,
		"chat": map[string]any{"id": telegramtest.Ada, "type": "private", "first_name": "Ada"}, "from": map[string]any{"id": telegramtest.Ada, "first_name": "Ada"},
	})
}

func (p *phone) PersonReacts(t *testing.T, id, emoji string, remove bool) {
	if remove {
		p.server.React(telegramtest.Ada, number(t, id))
		return
	}
	p.server.React(telegramtest.Ada, number(t, id), emoji)
}

func (p *phone) Reactions(t *testing.T, id string) []string {
	return p.server.Reactions(telegramtest.Ada, number(t, id))
}

func (p *phone) Press(t *testing.T, id, label string) {
	n := number(t, id)
	for _, m := range p.server.Sent(telegramtest.Ada) {
		for _, row := range m.Buttons {
			for _, b := range row {
				if m.ID == n && b.Text == label {
					p.server.Press(telegramtest.Ada, n, b.Data)
					return
				}
			}
		}
	}
	t.Fatalf("the message %s has no button %s", id, label)
}

func (p *phone) Rename(_ *testing.T, name string) { p.name = name }
func (p *phone) Repeat(_ *testing.T, n int)       { p.server.Rewind(n) }

func (p *phone) Typing(*testing.T) bool { return p.server.Calls("sendChatAction") > 0 }
func (p *phone) Uploads(size int) bool  { return size <= 20<<20 }
func (p *phone) Stop(*testing.T)        { p.server.Down(true) }
func (p *phone) Start(*testing.T)       { p.server.Down(false) }
func (p *phone) Drop(*testing.T)        { p.http.CloseClientConnections() }
func (p *phone) Expire(*testing.T)      { p.server.Revoke() }
func (p *phone) Secrets() []string      { return []string{telegramtest.Token} }

func (p *phone) Limit(_ *testing.T, wait time.Duration) {
	p.server.Fail("sendMessage", telegramtest.TooMany(int(wait.Seconds())))
}

func (p *phone) Lose(*testing.T) { p.server.Fail("sendMessage", telegramtest.Outcome{Lost: true}) }
