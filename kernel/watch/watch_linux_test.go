package watch_test

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"org-agent/kernel/watch"
)

// inNamespace tells this test that it runs in a namespace of its own, whose limits are nobody else's.
const inNamespace = "WATCH_TEST_NAMESPACE"

// TestNothingLeft checks that changes are found where the system has no watch left for the person's programs,
// and seen at once again when it has.
func TestNothingLeft(t *testing.T) {
	const limit = "/proc/sys/user/max_inotify_instances"
	if os.Getenv(inNamespace) == "" {
		again := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestNothingLeft$", "-test.v")
		again.Env = append(os.Environ(), inNamespace+"=1")
		again.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
		}
		output, err := again.CombinedOutput()
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EINVAL) {
			return // nobody may make namespaces here
		}
		if err != nil || !strings.Contains(string(output), "--- PASS: TestNothingLeft") {
			t.Errorf("%v\n%s", err, output)
		}
		return
	}
	allow := func(instances string) {
		t.Helper()
		if err := os.WriteFile(limit, []byte(instances), 0); err != nil {
			t.Fatal(err)
		}
	}
	allow("0")
	if watch.Probe() == nil {
		t.Error("the test shows nothing: there is a watch left")
	}
	above := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	var logs strings.Builder
	calls := make(chan int, 1000)
	w := watch.Watch{
		Of: "the files", Above: above, Quiet: time.Millisecond, MaxDelay: time.Millisecond, Poll: 10 * time.Millisecond,
		Logger:      slog.New(slog.NewTextHandler(&logs, nil)),
		Directories: func() []string { return nil },
		Concerns:    func(path string) bool { return strings.HasSuffix(path, ".org") },
		CatchUp: func(context.Context) time.Duration {
			entries, _ := filepath.Glob(filepath.Join(above, "*.org"))
			select {
			case calls <- len(entries):
			default:
			}
			return 0
		},
	}
	done := make(chan error, 1)
	go func() { done <- w.Follow(ctx) }()
	until := func(want int) {
		t.Helper()
		for limit := time.After(time.Minute); ; {
			select {
			case got := <-calls:
				if got == want {
					return
				}
			case <-limit:
				t.Fatalf("never saw %d files", want)
			}
		}
	}
	until(0)
	write(t, filepath.Join(above, "a.org"))
	until(1)
	allow("10")
	for most := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) { // until it looks no more by itself
		for len(calls) > 0 {
			<-calls
		}
		if time.Sleep(50 * time.Millisecond); len(calls) == 0 {
			break
		}
		if time.Now().After(most) {
			t.Fatal("it goes on looking")
		}
	}
	write(t, filepath.Join(above, "b.org"))
	until(2)
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if strings.Count(logs.String(), "looked for") != 1 {
		t.Errorf("the log says %s", logs.String())
	}
}
