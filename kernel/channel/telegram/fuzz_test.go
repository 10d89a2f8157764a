package telegram_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest/telegramtest"
	"org-agent/kernel/channel/telegram"
)

// FuzzUpdates checks that no answer of a server harms: what is delivered has an ID, a chat, a sender and a kind that
// there is, in valid UTF-8, and the next request asks for a number that there can be.
func FuzzUpdates(f *testing.F) {
	files, err := filepath.Glob("testdata/updates/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		decoder := json.NewDecoder(strings.NewReader(string(txtar.Parse(data).Files[0].Data)))
		for {
			var one map[string]json.RawMessage
			if decoder.Decode(&one) != nil {
				break
			}
			one["update_id"] = json.RawMessage("7")
			seed, err := json.Marshal([]any{one})
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(seed))
		}
	}
	f.Add(`[{"update_id":8,"message":null},{"update_id":7,"message":{}}]`)
	f.Add(`[{"update_id":9223372036854775807}]`)
	f.Add(`null`)
	f.Fuzz(func(t *testing.T, updates string) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		polls := 0
		server := telegramtest.New()
		inner := server.Client().Transport
		transport := roundTripper(func(r *http.Request) (*http.Response, error) {
			if !strings.HasSuffix(r.URL.Path, "/getUpdates") {
				return inner.RoundTrip(r)
			}
			var asked struct {
				Offset int64 `json:"offset"`
			}
			if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.Offset < 0 {
				t.Errorf("it asked for what is behind %d, %v", asked.Offset, err)
			}
			r.Body.Close()
			if polls++; polls > 1 {
				cancel()
				return nil, ctx.Err()
			}
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"ok":true,"result":` + updates + `}`))}, nil
		})
		d := telegram.New(telegram.Config{Token: telegramtest.Token, HTTP: &http.Client{Transport: transport}, Pause: 1})
		err := d.Run(ctx, func(_ context.Context, m channel.Message) error {
			if m.ID == "" || m.Chat.ID == "" || m.Sender.ID == "" || strings.ToValidUTF8(m.Text, "") != m.Text {
				t.Errorf("it delivered %+v", m)
			}
			switch m.Kind {
			case channel.Said, channel.Edited, channel.Reacted, channel.Unreact, channel.Pressed, channel.Event:
			default:
				t.Errorf("it delivered the kind %q", m.Kind)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
