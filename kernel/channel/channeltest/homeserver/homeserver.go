// Package homeserver runs a real Matrix homeserver, dendrite, as a process of its own on the loopback, for the tests that
// "make test-peers" runs. It is built elsewhere, from a module of its own, and never linked.
//
// Ordering and blocking: [Start], [Server.Stop] and [Server.Restart] wait until the homeserver answers, or has ended.
// Ownership: a [Server] belongs to its test, which ends the process and removes its files.
package homeserver

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Server is a homeserver whose name is "localhost".
type Server struct {
	URL string

	program   string
	directory string
	address   string
	process   *exec.Cmd
	log       *os.File
}

// secret is for accounts: nobody but the test reaches the server.
const secret = "accounts of a test"

// settings are those of a homeserver without others: it federates with none, and tells nobody how it is used.
const settings = `version: 2
global:
  server_name: localhost
  private_key: matrix_key.pem
  disable_federation: true
  report_stats: {enabled: false}
  metrics: {enabled: false}
  presence: {enable_inbound: false, enable_outbound: false}
  jetstream: {in_memory: false, storage_path: jetstream, topic_prefix: Test}
  cache: {max_size_estimated: 64mb}
client_api:
  registration_disabled: true
  registration_shared_secret: ` + secret + `
  rate_limiting: {enabled: false}
user_api: {bcrypt_cost: 4, account_database: {connection_string: "file:account.db"}}
federation_api: {database: {connection_string: "file:federation.db"}}
key_server: {database: {connection_string: "file:keys.db"}}
mscs: {database: {connection_string: "file:mscs.db"}}
media_api: {base_path: media, max_file_size_bytes: 20971520, database: {connection_string: "file:media.db"}}
room_server: {database: {connection_string: "file:rooms.db"}}
sync_api: {database: {connection_string: "file:sync.db"}}
relay_api: {database: {connection_string: "file:relay.db"}}
logging: [{type: std, level: warn}]
`

// Start runs a homeserver from the directory that its programs were built in.
func Start(t testing.TB, programs string) *Server {
	t.Helper()
	s := &Server{program: filepath.Join(programs, "dendrite"), directory: t.TempDir()}
	if err := os.WriteFile(filepath.Join(s.directory, "dendrite.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	keys := exec.Command(filepath.Join(programs, "generate-keys"), "--private-key", "matrix_key.pem")
	keys.Dir = s.directory
	if out, err := keys.CombinedOutput(); err != nil {
		t.Fatalf("make the homeserver's key: %v\n%s", err, out)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = free.Addr().String()
	s.URL = "http://" + s.address
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop(t) })
	s.Restart(t)
	return s
}

// Restart runs the homeserver again, at the same address, with what it had.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.Stop(t)
	log, err := os.OpenFile(filepath.Join(s.directory, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	s.log = log
	s.process = exec.Command(s.program, "-config", "dendrite.yaml", "-http-bind-address", s.address, "-https-bind-address", "")
	s.process.Dir, s.process.Stdout, s.process.Stderr = s.directory, log, log
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if response, err := http.Get(s.URL + "/_matrix/client/versions"); err == nil {
			err = response.Body.Close()
			if err == nil && response.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(deadline) {
			said, _ := os.ReadFile(log.Name())
			t.Fatalf("the homeserver does not answer:\n%s", said)
		}
	}
}

// Stop ends the homeserver, as a machine does that is switched off.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if s.process == nil {
		return
	}
	if err := s.process.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = s.process.Wait() // it was killed
	if err := s.log.Close(); err != nil {
		t.Error(err)
	}
	s.process = nil
}

// Account is an account of the homeserver, with a device.
type Account struct {
	UserID string `json:"user_id"`
	Token  string `json:"access_token"`
	Device string `json:"device_id"`
}

// Register makes an account.
func (s *Server) Register(t testing.TB, name string) Account {
	t.Helper()
	address := s.URL + "/_synapse/admin/v1/register"
	var nonce struct {
		Nonce string `json:"nonce"`
	}
	s.ask(t, http.MethodGet, address, nil, &nonce)
	password := "a password of " + name
	mac := hmac.New(sha1.New, []byte(secret))
	mac.Write([]byte(strings.Join([]string{nonce.Nonce, name, password, "notadmin"}, "\x00")))
	var account Account
	s.ask(t, http.MethodPost, address, map[string]any{
		"nonce": nonce.Nonce, "username": name, "password": password, "admin": false, "mac": hex.EncodeToString(mac.Sum(nil)),
	}, &account)
	return account
}

func (s *Server) ask(t testing.TB, method, address string, body, answer any) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(context.Background(), method, address, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	said, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err == nil && response.StatusCode == http.StatusOK {
		err = json.Unmarshal(said, answer)
	} else if err == nil {
		err = fmt.Errorf("status %d", response.StatusCode)
	}
	if err != nil {
		t.Fatalf("the homeserver answers %v: %s", err, said)
	}
}
