package instance_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/config"
	"org-agent/kernel/instance"
)

// TestFaultyProxy checks that no page is fetched without the proxy if the setting of the proxy is
// invalid.
func TestFaultyProxy(t *testing.T) {
	asked := false
	pages := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer pages.Close()
	home := instance.Instance{Env: func(string) string { return "" }}
	settings := config.Parse("config.org", "* Web\n:PROPERTIES:\n:PROXY: enviroment\n:END:\n")
	f := home.Pages(func() config.Settings { return settings }, func(netip.Addr) error { return nil }, nil)
	if page, err := f.Get(t.Context(), pages.URL); err == nil || !strings.Contains(err.Error(), "PROXY") || asked {
		t.Errorf("%+v, %v, asked: %v", page, err, asked)
	}
}

// TestProxyOfTheMoment checks that a page is fetched through the proxy that the settings name then.
func TestProxyOfTheMoment(t *testing.T) {
	proxied := 0
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { proxied++ }))
	defer proxy.Close()
	direct := 0
	pages := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { direct++ }))
	defer pages.Close()
	settings := config.Settings{}
	home := instance.Instance{Env: func(string) string { return "" }}
	f := home.Pages(func() config.Settings { return settings }, func(netip.Addr) error { return nil }, nil)
	for _, c := range []struct{ path, proxy, want string }{{"/1", "", "1 0"}, {"/2", proxy.URL, "1 1"}, {"/3", "", "2 1"}} {
		settings.Proxy = c.proxy
		_, _ = f.Get(t.Context(), pages.URL+c.path) // an empty page may be an error
		if got := strings.Join([]string{string(rune('0' + direct)), string(rune('0' + proxied))}, " "); got != c.want {
			t.Errorf("through %q: direct and proxied are %s, want %s", c.proxy, got, c.want)
		}
	}
}

// TestSearchServerOfTheMoment checks that the server is the one of the settings, that its key is read
// once for many searches, and at once again when the server refuses it.
func TestSearchServerOfTheMoment(t *testing.T) {
	right, refused := "first", 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Subscription-Token") != right {
			refused++
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(`{"web":{"results":[{"title":"A","url":"http://example.org/"}]}}`))
	}))
	defer s.Close()
	directory := t.TempDir()
	file, count := filepath.Join(directory, "key"), filepath.Join(directory, "count")
	write := func(key string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(key+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first")
	var settings config.Settings
	home := instance.Instance{Env: func(string) string { return "" }}
	current := home.SearchServer(func() config.Settings { return settings })
	if current() != nil {
		t.Error("there is a server that nobody named")
	}
	settings.Search = &config.SearchServer{Kind: "brave", BaseURL: s.URL, Key: config.KeySource{Command: "echo x >>" + count + "; cat " + file}}
	search := func() error {
		_, err := current().Search(t.Context(), "roses", 3)
		return err
	}
	reads := func() int { text, _ := os.ReadFile(count); return strings.Count(string(text), "x") }
	if err := search(); err != nil || search() != nil || reads() != 1 {
		t.Errorf("%v, the key was read %d times", err, reads())
	}
	write("second")
	right = "second"
	if err := search(); err != nil || refused != 1 || reads() != 2 {
		t.Errorf("with another key: %v, refused %d times, read %d times", err, refused, reads())
	}
	right = "third"
	if err := search(); err == nil || refused != 2 || reads() != 3 {
		t.Errorf("with the same key: %v, refused %d times, read %d times", err, refused, reads())
	}
	before := current()
	settings.Search = &config.SearchServer{Kind: "brave", BaseURL: s.URL + "/other", Key: settings.Search.Key}
	after := current()
	if after == before || after.BaseURL != s.URL+"/other" || current() != after {
		t.Error("the server is not the one of the settings")
	}
	settings.Search = nil
	if current() != nil {
		t.Error("a server that was removed is there")
	}
}
