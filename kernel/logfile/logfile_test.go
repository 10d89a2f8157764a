package logfile

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func record(n int, session string) string {
	return fmt.Sprintf(`{"time":"2026-11-22T10:00:00Z","level":"INFO","msg":"line %d","session":%q,"turn":"t%d"}`, n, session, n%3)
}

func messages(records []Record) []string {
	var all []string
	for _, r := range records {
		all = append(all, r.Message)
	}
	return all
}

func TestParse(t *testing.T) {
	r := Parse(`{"time":"2026-11-22T10:00:00.5Z","level":"WARN","msg":"a\nb","session":"main","turn":"t1","dur":1500000,"err":"x\u001b[31m"}`)
	if r.Message != "a b" || r.Level != slog.LevelWarn || r.Session != "main" || r.Turn != "t1" || r.Fields != "  dur=1.5ms  err=x [31m  session=main  turn=t1" {
		t.Errorf("%+v", r)
	}
	if r := Parse(`{"msg":"m","bytes":12345678,"share":0.25}`); r.Fields != "  bytes=12345678  share=0.25" {
		t.Errorf("numbers are %q", r.Fields)
	}
	for _, line := range []string{"", "x", `{"msg":`, "null", "[1]", "\xff", `"a"`, "{", `{"msg":"a"} b`, `{"msg":"a"}}`} {
		if r := Parse(line); !r.Broken || r.Raw != line {
			t.Errorf("%q: %+v", line, r)
		}
	}
	long := Parse(`{"msg":"` + strings.Repeat("é", 1<<20) + `"}`)
	if len(long.Message) > shownLimit+100 || !strings.HasSuffix(long.Message, "bytes more]") {
		t.Errorf("a long message has %d bytes", len(long.Message))
	}
}

// TestDurations checks that durations are written for people, whatever their key and place.
func TestDurations(t *testing.T) {
	var b strings.Builder
	log := slog.New(Handler(&b, slog.LevelInfo)).With("since", 90*time.Second)
	log.Debug("left out", "pause", time.Second)
	log.Info("said", "pause", 30*time.Second, "dur", 1500*time.Microsecond, "exact", 1234567*time.Nanosecond, "none", time.Duration(0), slog.Group("model", "first", time.Minute))
	r := Parse(strings.TrimSpace(b.String()))
	if r.Broken || r.Fields != "  dur=1.5ms  exact=1.235ms  model=map[first:1m0s]  none=0s  pause=30s  since=1m30s" {
		t.Errorf("it is read as %q", r.Fields)
	}
}

func TestFilter(t *testing.T) {
	lines := []string{record(0, "main"), record(1, "other"), `{"level":"DEBUG","msg":"Deep"}`, `{"level":"ERROR","msg":"Bad","turn":"t1"}`, "broken"}
	for _, c := range []struct {
		filter Filter
		want   string
	}{
		{Filter{}, "line 0|line 1|Bad|broken"},
		{Filter{Level: slog.LevelDebug}, "line 0|line 1|Deep|Bad|broken"},
		{Filter{Level: slog.LevelError}, "Bad|broken"},
		{Filter{Session: "other"}, "line 1"},
		{Filter{Turn: "t1"}, "line 1|Bad"},
		{Filter{Turn: "t"}, "line 0|line 1|Bad"},
		{Filter{Text: "BAD"}, "Bad"},
		{Filter{Text: "session=main"}, "line 0"},
	} {
		var got []string
		for _, line := range lines {
			if r := Parse(line); c.filter.Matches(r) {
				got = append(got, r.Message)
			}
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%+v: %v", c.filter, got)
		}
	}
}

// TestTailIsTheEnd checks that the tail is the last of the matching lines, however they are spread
// over files.
func TestTailIsTheEnd(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		directory, err := os.MkdirTemp("", "logfile")
		if err != nil {
			r.Fatal(err)
		}
		defer os.RemoveAll(directory)
		path := filepath.Join(directory, "log.jsonl")
		var all []string
		files := rapid.IntRange(1, 4).Draw(r, "files")
		for f := range files {
			name := path
			if f < files-1 {
				name = filepath.Join(directory, fmt.Sprintf("log-2026-11-2%dT00-00-00.000.jsonl", f))
			}
			var b strings.Builder
			lines := rapid.SliceOfN(rapid.OneOf(rapid.Just("x"), rapid.StringMatching(`[^\n]{0,200}`),
				rapid.Map(rapid.IntRange(0, 9), func(n int) string { return record(n, "main") }),
				rapid.Just(strings.Repeat("long ", 30_000))), 0, 6).Draw(r, "lines")
			for i, line := range lines {
				b.WriteString(line)
				if i < len(lines)-1 || rapid.Bool().Draw(r, "ended") {
					b.WriteString("\n")
				}
				if line != "" {
					all = append(all, line)
				}
			}
			if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
				r.Fatal(err)
			}
		}
		count := rapid.IntRange(1, 12).Draw(r, "count")
		found, left, err := NewWriter(path, io.Discard).Follow(t.Context(), t, Filter{}, count, nil)
		if err != nil {
			r.Fatal(err)
		}
		var got []string
		for _, record := range found {
			got = append(got, record.Raw)
		}
		want := all[max(0, len(all)-count):]
		if !slices.Equal(got, want) || len(all) > count && !left {
			r.Fatalf("got %q, left %v; want %q", got, left, want)
		}
	})
}

func TestTailWithoutLog(t *testing.T) {
	found, left, err := NewWriter(filepath.Join(t.TempDir(), "none", "log.jsonl"), io.Discard).Follow(t.Context(), t, Filter{}, 10, nil)
	if len(found) != 0 || left || err != nil {
		t.Errorf("%v, %v, %v", found, left, err)
	}
}

// TestWriter checks that a follower gets the end of the file and then every matching line once,
// that it may log while it is called, and that it gets the number of dropped lines.
func TestWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	must(t, os.WriteFile(path, []byte(record(0, "main")+"\n"+`{"msg":"half a li`), 0o600))
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	must(t, err)
	defer file.Close()
	synctest.Test(t, func(t *testing.T) {
		b := NewWriter(path, file)
		write := func(line string) {
			_, err := b.Write([]byte(line + "\n"))
			must(t, err)
		}
		go b.Deliver(t.Context())
		write(record(1, "main"))
		var mu sync.Mutex // guards the variables below
		var delivered []string
		dropped := 0
		found, _, err := b.Follow(t.Context(), "me", Filter{Session: "main"}, 10, func(records []Record, d int) {
			write(record(99, "nobody"))
			mu.Lock()
			defer mu.Unlock()
			delivered, dropped = append(delivered, messages(records)...), dropped+d
		})
		snapshot := func() (lines []string, lost int) {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(delivered), dropped
		}
		must(t, err)
		if got := strings.Join(messages(found), "|"); got != "line 0|line 1" {
			t.Errorf("the tail is %q", got)
		}
		for i := 2; i < 6; i++ {
			write(record(i, []string{"main", "other"}[i%2]))
		}
		wait(t, func() bool { lines, _ := snapshot(); return len(lines) == 2 })
		lines, _ := snapshot()
		if got := strings.Join(lines, "|"); got != "line 2|line 4" {
			t.Errorf("told of %q", got)
		}
		for i := range 3 * pendingLines {
			write(record(i, "main"))
		}
		wait(t, func() bool { _, lost := snapshot(); return lost > 0 })
		lines, lost := snapshot()
		if len(lines) < pendingLines || lost < pendingLines {
			t.Errorf("told of %d, dropped %d", len(lines), lost)
		}
		b.Unfollow("me")
		lines, _ = snapshot()
		write(record(7, "main"))
		synctest.Wait()
		if after, _ := snapshot(); len(after) != len(lines) {
			t.Error("told after leaving")
		}
	})
	text, err := os.ReadFile(path)
	must(t, err)
	if lines := strings.Split(string(text), "\n"); lines[1] != `{"msg":"half a li` || lines[2] != record(1, "main") {
		t.Errorf("a line that was not finished: %q", lines[:3])
	}
}

// wait lets the bubble's time pass until done returns true.
func wait(t *testing.T, done func() bool) {
	t.Helper()
	for range 100 {
		synctest.Wait()
		if done() {
			return
		}
		time.Sleep(deliverEvery)
	}
	t.Fatal("it did not happen")
}

// TestReaderFollows checks that every line is read once, through renaming, half lines and a file
// that is missing for a while.
func TestReaderFollows(t *testing.T) {
	directory := t.TempDir()
	path := filepath.Join(directory, "log.jsonl")
	r := &Reader{Path: path}
	defer r.Close()
	expect := func(want ...string) {
		t.Helper()
		var got []string
		for {
			line, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			must(t, err)
			got = append(got, line)
		}
		if !slices.Equal(got, want) {
			t.Errorf("read %q, want %q", got, want)
		}
	}
	add := func(text string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		must(t, err)
		_, err = f.WriteString(text)
		must(t, errors.Join(err, f.Close()))
	}
	expect()
	add("a\nb")
	expect("a")
	add("c\n" + strings.Repeat("x", 1<<20) + "\n")
	expect("bc", strings.Repeat("x", 1<<20))
	add("late\nhalf")
	must(t, os.Rename(path, filepath.Join(directory, "log-1.jsonl")))
	expect("late")
	add("new\n")
	expect("half", "new")
	add("d\ne\n")
	other := &Reader{Path: path}
	defer other.Close()
	found, err := other.Tail(t.Context(), Filter{}, 2)
	if must(t, err); strings.Join(messages(found), "|") != "d|e" {
		t.Errorf("the tail is %v", messages(found))
	}
	add("f\n")
	if line, err := other.Next(); line != "f" || err != nil {
		t.Errorf("after the tail: %q, %v", line, err)
	}
}
