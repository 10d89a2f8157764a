package telegram_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest/telegramtest"
	"org-agent/kernel/channel/telegram"
)

// TestFetch checks that files are fetched whole, that their sizes are bounded, and that what cannot be fetched says why.
func TestFetch(t *testing.T) {
	l := newLoft()
	large := bytes.Repeat([]byte("0123456789abcdef"), 10<<16) // 10 MB
	for i, c := range []struct {
		size int64 // as it is said
		data []byte
		fail []telegramtest.Outcome
		want channel.FailureClass
	}{
		{5, []byte("doves"), nil, ""},
		{0, []byte("doves"), nil, ""},
		{int64(len(large)), large, nil, ""},
		{21 << 20, []byte("doves"), nil, channel.Refused},
		{0, make([]byte, 21<<20), nil, channel.Refused},
		{5, []byte("doves"), []telegramtest.Outcome{{Code: 400, Description: "Bad Request: wrong file_id or the file is temporarily unavailable"}}, channel.Refused},
		{5, []byte("doves"), []telegramtest.Outcome{telegramtest.TooMany(3)}, channel.Temporary},
	} {
		l.Say(telegramtest.Ada, map[string]any{"document": map[string]any{"file_id": l.AddFile(c.data), "file_unique_id": "u", "file_name": "a.exe", "mime_type": "text/plain", "file_size": c.size}})
		l.Fail("getFile", c.fail...)
		stop := l.run(t.Context())
		m := l.messages(t, i+1)[i]
		stopped(t, stop)
		if len(m.Attachments) != 1 || m.Attachments[0].Name != "a.exe" || m.Attachments[0].Media != "text/plain" {
			t.Fatalf("%d: it is %+v", i, m)
		}
		body, err := m.Attachments[0].Open(t.Context())
		if classOf(t, err) != c.want {
			t.Errorf("%d: it ended with %v, and not as %q", i, err, c.want)
		}
		if err != nil {
			continue
		}
		data, err := io.ReadAll(body)
		if err != nil || !bytes.Equal(data, c.data) {
			t.Errorf("%d: %d bytes of %d came, %v", i, len(data), len(c.data), err)
		}
		if err := body.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestFetchWhatIsNotThere checks that a path which leads elsewhere, an answer that is none and a file without an end are refused.
func TestFetchWhatIsNotThere(t *testing.T) {
	for name, c := range map[string]struct {
		path string
		file *http.Response
		want string
	}{
		"of a local server": {"/var/lib/telegram/a.txt", nil, "--local"},
		"upwards":           {"../../getMe", nil, "--local"},
		"no path":           {"", nil, "--local"},
		"gone":              {"documents/gone", nil, "404"},
		"without an end":    {"documents/a?b", &http.Response{StatusCode: 200, Body: io.NopCloser(endless{})}, "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			l := newLoft(func(conf *telegram.Config) {
				inner := conf.HTTP.Transport
				conf.HTTP.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
					switch {
					case strings.HasSuffix(r.URL.Path, "/getFile"):
						r.Body.Close()
						body := fmt.Sprintf(`{"ok":true,"result":{"file_id":"F","file_unique_id":"u","file_path":%q}}`, c.path)
						return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{}}, nil
					case strings.HasPrefix(r.URL.Path, "/file/"):
						asked = append(asked, r.URL.EscapedPath())
						if c.file != nil {
							return c.file, nil
						}
					}
					return inner.RoundTrip(r)
				})
			})
			l.Say(telegramtest.Ada, map[string]any{"document": map[string]any{"file_id": "F", "file_unique_id": "u"}})
			stop := l.run(t.Context())
			m := l.messages(t, 1)[0]
			stopped(t, stop)
			body, err := m.Attachments[0].Open(t.Context())
			read := int64(0)
			if err == nil {
				read, err = io.Copy(io.Discard, body)
				body.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), telegramtest.Token) || read > 20<<20 {
				t.Errorf("%d bytes, %v", read, err)
			}
			if c.file != nil && (len(asked) != 1 || !strings.HasSuffix(asked[0], "/documents/a%3Fb")) {
				t.Errorf("it asked for %q", asked)
			}
		})
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
