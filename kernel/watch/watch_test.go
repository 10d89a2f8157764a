package watch_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"org-agent/kernel/watch"
)

const quiet = 10 * time.Millisecond

// seen returns a channel with the files of directory/in at each call of CatchUp.
func seen(t *testing.T, above string, logs *bytes.Buffer) <-chan []string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	calls := make(chan []string, 100)
	in := filepath.Join(above, "in")
	w := watch.Watch{
		Of: "the files", Above: above, Quiet: quiet, MaxDelay: 5 * quiet,
		Logger:      slog.New(slog.NewTextHandler(logs, nil)),
		Directories: func() []string { return []string{in, filepath.Join(above, "absent"), filepath.Join(above, "loop")} },
		Concerns:    func(path string) bool { return path == in || strings.HasSuffix(path, ".org") },
		CatchUp: func(context.Context) time.Duration {
			var names []string
			entries, _ := os.ReadDir(in) // absent at first
			for _, entry := range entries {
				names = append(names, entry.Name())
			}
			calls <- names
			return 0
		},
	}
	done := make(chan error, 1)
	go func() { done <- w.Follow(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	if first := <-calls; first != nil {
		t.Errorf("the first call sees %v", first)
	}
	return calls
}

// until waits for a call that sees want, and counts the calls.
func until(t *testing.T, calls <-chan []string, want ...string) (count int) {
	t.Helper()
	for limit := time.After(time.Minute); ; {
		select {
		case names := <-calls:
			if count++; slices.Equal(names, want) {
				return count
			}
		case <-limit:
			t.Fatalf("never saw %v in %d calls", want, count)
		}
	}
}

func write(t *testing.T, name string) {
	t.Helper()
	if err := os.WriteFile(name, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestFollow checks that a directory that is made later is watched, that irrelevant changes are
// ignored, and that many changes in a row lead to few calls.
func TestFollow(t *testing.T) {
	above := t.TempDir()
	if err := os.Symlink("loop", filepath.Join(above, "loop")); err != nil {
		t.Fatal(err)
	}
	var logs bytes.Buffer
	t.Run("changes", func(t *testing.T) {
		calls := seen(t, above, &logs)
		in := filepath.Join(above, "in")
		if err := os.Mkdir(in, 0o755); err != nil {
			t.Fatal(err)
		}
		until(t, calls)
		write(t, filepath.Join(in, "a.org"))
		until(t, calls, "a.org")
		began := time.Now()
		for range 200 {
			write(t, filepath.Join(in, "a.org"))
		}
		write(t, filepath.Join(in, "b.org"))
		// A slow machine may be quiet between two writes.
		if count, most := until(t, calls, "a.org", "b.org"), 2+int(time.Since(began)/quiet); count > most {
			t.Errorf("201 writes were %d calls, and not %d at most", count, most)
		}
		if err := os.Remove(filepath.Join(in, "a.org")); err != nil {
			t.Fatal(err)
		}
		until(t, calls, "b.org")
		for len(calls) > 0 {
			<-calls
		}
		write(t, filepath.Join(in, "c.txt"))
		write(t, filepath.Join(above, "d.txt"))
		if err := os.Chmod(filepath.Join(in, "b.org"), 0o600); err != nil {
			t.Fatal(err)
		}
		until(t, calls, "b.org", "c.txt") // for the mode of b.org
	})
	if got := strings.Count(logs.String(), "directory="); got != 1 || !strings.Contains(logs.String(), "/loop") {
		t.Errorf("%d directories are told of:\n%s", got, logs.String())
	}
}

// TestFollowNeedsTheDirectoryAbove checks the error if the directory above does not exist, because
// no change would be seen.
func TestFollowNeedsTheDirectoryAbove(t *testing.T) {
	w := watch.Watch{Of: "the files", Above: filepath.Join(t.TempDir(), "absent")}
	if err := w.Follow(t.Context()); err == nil || !strings.Contains(err.Error(), "watch the files in ") {
		t.Error(err)
	}
}

// TestFollowCallsAgain checks that CatchUp can ask to be called again.
func TestFollowCallsAgain(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	count := 0
	w := watch.Watch{
		Of: "the files", Above: t.TempDir(),
		Directories: func() []string { return nil },
		CatchUp: func(context.Context) time.Duration {
			if count++; count == 3 {
				cancel()
			}
			return time.Millisecond
		},
	}
	if err := w.Follow(ctx); err != nil || count < 3 {
		t.Errorf("%d calls, %v", count, err)
	}
}

// TestOtherDirectories checks that CatchUp is called when that is asked for, and that a directory is
// watched no longer than it is named.
func TestOtherDirectories(t *testing.T) {
	above, other := t.TempDir(), t.TempDir()
	again, calls := make(chan struct{}, 1), make(chan struct{}, 100)
	var named atomic.Bool
	named.Store(true)
	w := watch.Watch{
		Of: "the files", Above: above, Quiet: quiet, MaxDelay: 5 * quiet, Logger: slog.New(slog.DiscardHandler), Again: again,
		Directories: func() []string {
			if named.Load() {
				return []string{other}
			}
			return nil
		},
		Concerns: func(string) bool { return true },
		CatchUp: func(context.Context) time.Duration {
			calls <- struct{}{}
			return 0
		},
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Follow(ctx) }()
	called := func(what string, want bool) {
		t.Helper()
		limit := time.Minute
		if !want {
			limit = 20 * quiet
		}
		select {
		case <-calls:
			if !want {
				t.Errorf("it was called for %s", what)
			}
		case <-time.After(limit):
			if want {
				t.Fatalf("it was not called for %s", what)
			}
		}
	}
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(other, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	called("the beginning", true)
	write("a")
	called("a file", true)
	called("nothing", false)
	named.Store(false)
	again <- struct{}{}
	called("a wish", true)
	write("b")
	called("a file that nobody wants any more", false)
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestShared checks that watches that share a watcher are each told of their own changes, also of a directory
// that both watch, and under the name that each has for it.
func TestShared(t *testing.T) {
	shared := &watch.Watcher{}
	above := t.TempDir()
	both, link := filepath.Join(above, "both"), filepath.Join(above, "link")
	if err := os.Mkdir(both, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(both, link); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	defer ended.Wait()
	defer cancel()
	follow := func(ctx context.Context, directory, name string) <-chan bool {
		calls := make(chan bool, 100)
		w := watch.Watch{
			Of: name, Above: above, Quiet: quiet, MaxDelay: 5 * quiet, Watcher: shared, Logger: slog.New(slog.DiscardHandler),
			Directories: func() []string { return []string{directory} },
			Concerns:    func(path string) bool { return path == filepath.Join(directory, name) },
			CatchUp:     func(context.Context) time.Duration { calls <- true; return 0 },
		}
		ended.Go(func() {
			if err := w.Follow(ctx); err != nil {
				t.Error(err)
			}
		})
		<-calls
		return calls
	}
	leaves, leave := context.WithCancel(ctx)
	one, other, third := follow(ctx, both, "one.org"), follow(ctx, link, "other.org"), follow(leaves, both, "third.org")
	write(t, filepath.Join(both, "one.org"))
	<-one
	write(t, filepath.Join(both, "other.org"))
	<-other
	write(t, filepath.Join(both, "third.org"))
	<-third
	leave()
	write(t, filepath.Join(link, "one.org"))
	<-one
	write(t, filepath.Join(link, "other.org"))
	<-other
	if len(third) > 1 {
		t.Errorf("who has left was called %d times", len(third))
	}
}
