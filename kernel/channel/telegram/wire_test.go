package telegram_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest/telegramtest"
	"org-agent/kernel/channel/telegram"
)

// TestBrokenAnswers checks what is said of answers that are none, and that the token is in none of it.
func TestBrokenAnswers(t *testing.T) {
	answered := func(status int, body io.Reader) func(*http.Request) (*http.Response, error) {
		return func(r *http.Request) (*http.Response, error) {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return nil, err
			}
			r.Body.Close()
			return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(body)}, nil
		}
	}
	for name, c := range map[string]struct {
		trip  func(*http.Request) (*http.Response, error)
		class channel.FailureClass
	}{
		"it breaks off":      {answered(200, io.MultiReader(strings.NewReader(`{"ok":`), broken{})), channel.Unknown},
		"it has no end":      {answered(200, endless{}), channel.Unknown},
		"without a number":   {answered(403, strings.NewReader(`{"ok":false,"description":"Forbidden"}`)), channel.Refused},
		"of another type":    {answered(200, strings.NewReader(`{"ok":true,"result":"sent"}`)), channel.Unknown},
		"the address in it":  {func(r *http.Request) (*http.Response, error) { return nil, fmt.Errorf("proxy: cannot reach %s", r.URL) }, channel.Temporary},
		"before it was sent": {func(*http.Request) (*http.Response, error) { return nil, errors.New("no route to host") }, channel.Temporary},
		"after it was sent": {func(r *http.Request) (*http.Response, error) {
			_, err := io.Copy(io.Discard, r.Body)
			return nil, errors.Join(err, errors.New("connection reset by peer"))
		}, channel.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLoft(func(conf *telegram.Config) { conf.HTTP = &http.Client{Transport: roundTripper(c.trip)} })
			_, err := l.driver.Send(t.Context(), text(ada, "hi"))
			if classOf(t, err) != c.class || strings.Contains(fmt.Sprintf("%v %#v", err, err), telegramtest.Token) {
				t.Errorf("it ended with %v, and not as %q", err, c.class)
			}
			err = l.driver.Delete(t.Context(), ada, ada+":1")
			if class := classOf(t, err); class == channel.Unknown {
				t.Errorf("what can be done twice ended with %v, %q", err, class)
			}
		})
	}
}

// TestGrowingFile checks that a file which has more than it is said to have ends at the limit.
func TestGrowingFile(t *testing.T) {
	l := newLoft()
	out := text(ada, "look")
	out.File = &channel.File{Name: "a", Size: 5, Open: func() (io.ReadCloser, error) { return io.NopCloser(endless{}), nil }}
	if _, err := l.driver.Send(t.Context(), out); classOf(t, err) != channel.Refused || len(l.Sent(telegramtest.Ada)) > 0 {
		t.Errorf("it ended with %v", err)
	}
}

// TestAddresses checks that only addresses of servers are asked, which nobody is sent on from with the token.
func TestAddresses(t *testing.T) {
	for _, address := range []string{"ftp://example.org", "example.org", "https://", "https://example.org/?a=b", "http://[", "https://example.org/#a"} {
		d := telegram.New(telegram.Config{Token: telegramtest.Token, URL: address})
		if _, err := d.Check(t.Context()); classOf(t, err) != channel.Unauthorized {
			t.Errorf("%s: %v", address, err)
		}
		if err := d.Typing(t.Context(), ada, true); err == nil {
			t.Errorf("%s: it is asked", address)
		}
	}
	asked := 0
	l := newLoft(func(c *telegram.Config) {
		c.HTTP = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			asked++
			return &http.Response{StatusCode: 307, Header: http.Header{"Location": {"https://evil.example.org" + r.URL.Path}}, Body: http.NoBody}, nil
		})}
	})
	if _, err := l.driver.Check(t.Context()); classOf(t, err) != channel.Temporary || asked != 1 {
		t.Errorf("sent elsewhere: %v after %d requests", err, asked)
	}
}
