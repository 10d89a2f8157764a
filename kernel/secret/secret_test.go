package secret_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"org-agent/kernel/secret"
)

func TestText(t *testing.T) {
	const hidden = "sk-hidden"
	holder := struct {
		Key  secret.Text
		Keys map[string]secret.Text
	}{hidden, map[string]secret.Text{"a": hidden}}
	encoded, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	for _, handler := range []slog.Handler{slog.NewJSONHandler(&log, nil), slog.NewTextHandler(&log, nil)} {
		slog.New(handler).Info("x", "key", holder.Key, "all", holder)
	}
	text, _ := holder.Key.MarshalText()
	for _, shown := range []string{
		fmt.Sprintf("%v %+v %#v %s %q %x", holder, holder, holder, holder.Key, holder.Key, holder.Key), string(encoded), log.String(), string(text),
	} {
		if strings.Contains(shown, hidden) || strings.Contains(shown, fmt.Sprintf("%x", hidden)) || !strings.Contains(shown, secret.Redacted) {
			t.Errorf("shown as %s", shown)
		}
	}
	if holder.Key.Reveal() != hidden || secret.Text("").String() != "" {
		t.Error("the secret is lost")
	}
}

// TestHide checks that a secret is found in every spelling in which a program may write it.
func TestHide(t *testing.T) {
	const key = secret.Text("sk-a/b+c=d?e-1234")
	for _, c := range []struct{ text, want string }{
		{"bad key sk-a/b+c=d?e-1234.", "bad key REDACTED."},
		{"?key=" + url.QueryEscape(key.Reveal()) + "&x", "?key=REDACTED&x"},
		{"x " + hex.EncodeToString([]byte(key)) + " y", "x REDACTED y"},
		{strings.ToUpper(hex.EncodeToString([]byte(key))), "REDACTED"},
		{`{"key":"sk-a\/b+c=d?e-1234"}`, `{"key":"REDACTED"}`},
		{"nothing of it: sk-a/b", "nothing of it: sk-a/b"},
	} {
		if got := key.Hide(c.text); got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
	for _, around := range []string{"", "B", "Be", "Bearer ", "user:"} {
		coded := base64.StdEncoding.EncodeToString([]byte(around + key.Reveal() + "!"))
		if got := key.Hide(coded); !strings.Contains(got, secret.Redacted) || len(got) > len(secret.Redacted)+len(around)*2+6 {
			t.Errorf("behind %q: %s", around, got)
		}
	}
	if got := secret.Text("").Hide("text"); got != "text" {
		t.Error(got)
	}
	if got := secret.Text("ab").Hide("cab 6162"); got != "cREDACTED 6162" {
		t.Error(got)
	}
}
