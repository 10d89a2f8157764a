package wayout_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"org-agent/kernel/wayout"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// proxy serves a way out on which only one server is reached, and returns its address.
func proxy(t *testing.T, allowed string) *url.URL {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- wayout.Serve(context.Background(), listener, func(ctx context.Context, network, address string) (net.Conn, error) {
			if address != "public.example:80" && address != "public.example:443" {
				return nil, errors.New("it is not public")
			}
			return (&net.Dialer{}).DialContext(ctx, network, allowed)
		})
	}()
	t.Cleanup(func() {
		listener.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &url.URL{Scheme: "http", Host: listener.Addr().String()}
}

// TestProxy checks that requests and tunnels go where they may, and nowhere else.
func TestProxy(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s %q %q", r.Method, r.Host, r.URL, body, r.Header.Get("Proxy-Connection"))
	})
	plain, secret := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	defer plain.Close()
	defer secret.Close()
	for _, c := range []struct {
		server    *httptest.Server
		url, want string
		code      int
	}{
		{plain, "http://public.example/a?b=c", `POST public.example /a?b=c "text" ""`, 200},
		{plain, "http://private.example/a", "it is not public", 403},
		{plain, "http://public.example:8080/a", "it is not public", 403},
		{plain, "http://127.0.0.1/a", "", 403},
		{secret, "https://public.example/a", `POST public.example /a "text"`, 200},
		{secret, "https://private.example/a", "Forbidden", 0},
	} {
		transport := c.server.Client().Transport.(*http.Transport).Clone()
		if transport.TLSClientConfig != nil {
			transport.TLSClientConfig.ServerName = "example.com" // the certificate's
		}
		transport.Proxy = http.ProxyURL(proxy(t, c.server.Listener.Addr().String()))
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url, strings.NewReader("text"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Proxy-Connection", "keep-alive")
		response, err := transport.RoundTrip(request)
		got, code := "", 0
		if err != nil {
			got = err.Error()
		} else {
			body, _ := io.ReadAll(response.Body)
			response.Body.Close()
			got, code = string(body), response.StatusCode
		}
		if code != c.code || !strings.Contains(got, c.want) {
			t.Errorf("%s: %d %s", c.url, code, got)
		}
		transport.CloseIdleConnections()
	}
}

// TestProxyRefuses checks what is no request for a proxy, and that tunnels end with it.
func TestProxyRefuses(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	at := proxy(t, silent.Addr().String())
	for _, c := range []struct{ request, want string }{
		{"GET /x HTTP/1.1\r\nHost: x\r\n\r\n", "400"},
		{"GET ftp://public.example/ HTTP/1.1\r\nHost: x\r\n\r\n", "400"},
		{"CONNECT localhost:22 HTTP/1.1\r\nHost: localhost:22\r\n\r\n", "403"},
		{"nonsense\r\n\r\n", "400"},
		{"CONNECT public.example:443 HTTP/1.1\r\nHost: public.example:443\r\n\r\n", "200"}, // stays open
	} {
		connection, err := net.Dial("tcp", at.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		if _, err := io.WriteString(connection, c.request); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(connection).ReadString('\n'); err != nil || !strings.Contains(line, c.want) {
			t.Errorf("%q: %q, %v", c.request, line, err)
		}
	}
}

// TestServeEndsWithItsContext: the end of the context ends a way out at which somebody is connected.
func TestServeEndsWithItsContext(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- wayout.Serve(ctx, listener, (&net.Dialer{}).DialContext) }()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	end()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", listener.Addr().String()); err == nil {
		t.Error("it is still listened to")
	}
}
