package instance_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
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
	f := home.Pages(settings, func(netip.Addr) error { return nil }, nil)
	if page, err := f.Get(t.Context(), pages.URL); err == nil || !strings.Contains(err.Error(), "PROXY") || asked {
		t.Errorf("%+v, %v, asked: %v", page, err, asked)
	}
}
