package process_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"org-agent/kernel/fetch"
	"org-agent/kernel/process"
	"org-agent/kernel/sandbox"
)

// get fetches an address as a program does that knows nothing of a sandbox, and says what came.
func get(address string) string {
	client := &http.Client{Timeout: 20 * time.Second}
	response, err := client.Get(address)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return fmt.Sprintf("%d %s", response.StatusCode, body)
}

// hosts resolves as a name server does in which somebody has written what they like.
type hosts map[string]string

func (n hosts) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if address, err := netip.ParseAddr(n[strings.TrimSuffix(host, ".")]); err == nil {
		return []netip.Addr{address}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// serve answers on an address of this machine, and counts who comes.
func serve(t *testing.T, host string, came *atomic.Int64) (port string) {
	t.Helper()
	listener, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		came.Add(1)
		fmt.Fprint(w, "hello from "+host)
	})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener) // until it is closed
	}()
	t.Cleanup(func() { server.Close(); <-ended })
	_, port, err = net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// TestNetworkOfCommands checks that a command with the network reaches a public server by the way out, and
// no service of this machine, by no name and no way.
func TestNetworkOfCommands(t *testing.T) {
	kind, _ := sandbox.Probe(t.Context())
	if !kind.Fenced() {
		return // then a command is asked about, whatever it is
	}
	var here, public atomic.Int64
	port, publicPort := serve(t, "127.0.0.1", &here), serve(t, "127.0.0.2", &public)
	asked := fetch.New(fetch.Config{
		Resolver: hosts{"public.example": "127.0.0.2", "rebound.example": "127.0.0.1", "localhost": "127.0.0.1", "metadata.example": "169.254.169.254"},
		Judge: func(address netip.Addr) error { // this one stands for the internet
			if address == netip.MustParseAddr("127.0.0.2") {
				return nil
			}
			return fetch.Public(address)
		},
		Redirect: func(address string) (allowed, refused bool) {
			return false, strings.Contains(address, "refused.example")
		},
	})
	directory, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cp", program, filepath.Join(directory, "get")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	table := process.New(process.Config{Kind: func() sandbox.Kind { return kind }, Directory: filepath.Join(t.TempDir(), "output"), Home: "/home/someone", Environment: os.Getenv, Dial: asked.Dial})
	t.Cleanup(table.Close)
	run := func(network bool, command string) string {
		t.Helper()
		report, err := table.Run(t.Context(), process.Request{Session: "s", Command: command, Directory: directory, Network: network}, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return wrote(t, table, "s", report.ID)
	}
	clients := []string{"./get fetch"}
	if _, err := exec.LookPath("curl"); err == nil {
		clients = append(clients, "curl -s -m 20", "curl -s -m 20 -p") // with and without a tunnel
	}
	for _, client := range clients {
		if out := run(true, client+" http://public.example:"+publicPort+"/"); !strings.Contains(out, "hello from 127.0.0.2") {
			t.Errorf("%s: of a public server it gets %q", client, out)
		}
		var all strings.Builder
		for _, host := range []string{"127.0.0.1", "localhost", "rebound.example", "127.1", "0x7f000001", "2130706433", "[::ffff:127.0.0.1]", "[::1]", "0.0.0.0", "refused.example"} {
			fmt.Fprintf(&all, "%s http://%s:%s/; no_proxy= NO_PROXY= %s http://%s:%s/;", client, host, port, client, host, port)
		}
		if out := run(true, all.String()); here.Load() > 0 || strings.Contains(out, "hello") {
			t.Fatalf("%s: this machine was reached: %q", client, out)
		}
		if out := run(true, client+" http://metadata.example/"); strings.Contains(out, "200") {
			t.Errorf("%s: %q", client, out)
		}
		public.Store(0)
		if out := run(false, client+" http://public.example:"+publicPort+"/"); public.Load() > 0 {
			t.Errorf("%s: without the network it gets %q", client, out)
		}
	}
	run(true, fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%s; printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3", port))
	if here.Load() > 0 {
		t.Error("a service of this machine was reached")
	}
}
