package secret_test

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"org-agent/kernel/secret"
)

// TestStream checks that a text which comes in any pieces is the same as if it came whole, without the
// secrets of the set in any spelling, and that nothing of a secret is passed on before it is known.
func TestStream(t *testing.T) {
	keys := []secret.Text{"sk-first/4711+x=y?z-0123456789", "sk-second-sk-second-aaaa"}
	var set secret.Set
	for _, key := range append(keys, "ollama", "EMPTY", "") {
		set.Add(key)
	}
	rapid.Check(t, func(t *rapid.T) {
		var whole strings.Builder
		for range rapid.IntRange(0, 8).Draw(t, "parts") {
			key := rapid.SampledFrom(keys).Draw(t, "key").Reveal()
			whole.WriteString(rapid.SampledFrom([]string{
				key, key[:5], key[3:], "ollama EMPTY ", "é 漢字 🙂 ", "sk-", " \n", hex.EncodeToString([]byte(key)), base64.StdEncoding.EncodeToString([]byte("user:" + key)),
				strings.ToUpper(hex.EncodeToString([]byte(key))), "sk-second-",
			}).Draw(t, "part"))
		}
		text, want := whole.String(), whole.String()
		for _, key := range keys {
			want = key.Hide(want)
		}
		stream := set.Stream()
		var got strings.Builder
		for len(text) > 0 {
			n := rapid.IntRange(1, min(len(text), 12)).Draw(t, "piece")
			got.WriteString(stream.Write(text[:n]))
			text = text[n:]
			for _, key := range keys {
				if strings.Contains(got.String(), key.Reveal()) {
					t.Fatalf("%q was passed on", got.String())
				}
			}
		}
		got.WriteString(stream.Flush())
		if got.String() != want {
			t.Fatalf("got  %q\nwant %q", got.String(), want)
		}
	})
	if got := new(secret.Set).Stream().Write("anything"); got != "anything" {
		t.Error(got)
	}
}
