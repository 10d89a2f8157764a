//go:build signalcli

package signal

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"org-agent/kernel/channel"
)

// daemon starts the signal-cli of the command SIGNAL_CLI, which has no account, and returns its socket.
func daemon(t *testing.T) string {
	t.Helper()
	command := strings.Fields(os.Getenv("SIGNAL_CLI"))
	if len(command) == 0 {
		t.Fatal("SIGNAL_CLI does not say how signal-cli is run")
	}
	directory, err := os.MkdirTemp("", "signal")
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(directory, "socket")
	run := exec.Command(command[0], append(command[1:], "--config", filepath.Join(directory, "data"), "daemon", "--socket", socket, "--receive-mode", "manual")...)
	run.Stderr = os.Stderr
	run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it may be a script
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-run.Process.Pid, syscall.SIGKILL)
		_ = run.Wait() // it was killed
		_ = os.RemoveAll(directory)
	})
	for range 600 {
		if c, err := net.Dial("unix", socket); err == nil {
			_ = c.Close()
			return socket
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("signal-cli has not started")
	return ""
}

// TestRealAnswers compares what a real signal-cli answers with what was recorded of one, by which the server of the tests
// goes.
func TestRealAnswers(t *testing.T) {
	const file = "../channeltest/signaltest/testdata/answers.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, recorded, _ := strings.Cut(string(text), "\n\n")
	socket, err := net.Dial("unix", daemon(t))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	answers := bufio.NewReader(socket)
	now := head + "\n\n"
	for line := range strings.Lines(recorded) {
		if strings.HasPrefix(line, "< ") {
			continue
		}
		if _, err := socket.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
		answer, err := answers.ReadString('\n')
		if err != nil {
			t.Fatalf("%s%v", line, err)
		}
		now += line + "< " + answer
	}
	switch {
	case *update:
		if err := os.WriteFile(file, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	case now != string(text):
		t.Errorf("signal-cli answers\n%s\nand not\n%s", now, text)
	}
}

// TestRealDaemon checks that the driver knows a real signal-cli, says what to do about an account that it does not have,
// and has a file that breaks off refused.
func TestRealDaemon(t *testing.T) {
	c := Config{Account: agent.Number, Address: daemon(t)}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	if _, err := New(c).Check(ctx); class(err) != channel.Temporary || !strings.Contains(err.Error(), "link or register it") {
		t.Errorf("a check ends with %v", err)
	}
	d := New(c)
	connection, err := d.dial(ctx)
	if err != nil {
		t.Fatal(err)
	}
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		connection.read(func(notification) {})
	}()
	defer func() { connection.close(nil); <-reading }()
	if err := connection.subscribe(ctx); err != nil {
		t.Error(err)
	}
	if err := connection.unsubscribe(ctx); err != nil {
		t.Error(err)
	}
	breaks := &dataURI{&channel.File{Name: "a", Media: "a/b", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(&breaking{io.ErrUnexpectedEOF, 1 << 18}), nil
	}}, 1 << 20}
	if err := connection.callWith(ctx, "send", params{"recipient": []string{ada.Number}}, breaks, nil); class(err) != channel.Refused {
		t.Errorf("a file that breaks off: %v", err)
	}
	var version struct {
		Version string `json:"version"`
	}
	if err := connection.call(ctx, "version", nil, &version); err != nil || version.Version == "" {
		t.Errorf("afterwards: %+v, %v", version, err)
	}
}
