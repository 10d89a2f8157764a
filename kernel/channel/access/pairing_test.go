package access_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/access"
	"org-agent/kernel/org"
)

// kept is the state of channels.
type kept struct {
	mutex  sync.Mutex
	values map[string]string
	full   error // of every Store
}

// of returns the state of one channel.
func (k *kept) of(channel string) channel.State { return stateOf{k, channel} }

type stateOf struct {
	*kept
	channel string
}

func (s stateOf) Load(_ context.Context, key string) (string, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.values[s.channel+" "+key], nil
}

func (s stateOf) Store(_ context.Context, key, value string) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.full != nil {
		return s.full
	}
	s.values[s.channel+" "+key] = value
	return nil
}

// desk is what a test of pairing has.
type desk struct {
	*access.Pairings
	state *kept
	now   time.Time
	log   bytes.Buffer
}

func newDesk(directory string) *desk {
	d := &desk{state: &kept{values: map[string]string{}}, now: today}
	d.Pairings = &access.Pairings{File: &access.File{Path: filepath.Join(directory, "channels.org")}, State: d.state.of,
		Now: func() time.Time { return d.now }, Logger: slog.New(slog.NewTextHandler(&d.log, nil))}
	return d
}

// outcome sends a text in a private chat.
func (d *desk) outcome(t *testing.T, on, from, text string) access.Redemption {
	t.Helper()
	m := message(from)
	m.Text = text
	r, err := d.Redeem(t.Context(), on, m)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (d *desk) code(t *testing.T, on string, role access.Role) string {
	t.Helper()
	code, until, err := d.New(t.Context(), on, role)
	if err != nil || until.Sub(d.now) != time.Hour {
		t.Fatal(until, err)
	}
	return code
}

// wrong is a text with the shape of a code.
func wrong(i int) string { return fmt.Sprintf("00000-00000-00000-00000-%06d", i) }

// TestPairing checks that a code adds its sender once, in the role it was made for and on its channel, as people type it,
// across a restart, and that it is neither kept nor logged.
func TestPairing(t *testing.T) {
	d := newDesk(t.TempDir())
	code := d.code(t, "telegram", access.Friend)
	if len(code) != 30 || strings.ContainsAny(code, "ILOU") {
		t.Error(code)
	}
	for _, text := range []string{"hello", "", code + code, code[1:], "my code is " + code, "/stop " + code} {
		if r := d.outcome(t, "telegram", "7", text); r != (access.Redemption{}) {
			t.Errorf("%q: %+v", text, r)
		}
	}
	group := message("7 in -1")
	group.Text = code
	if r, err := d.Redeem(t.Context(), "telegram", group); err != nil || r.Outcome != access.NoCode {
		t.Errorf("in a group: %+v, %v", r, err)
	}
	if r := d.outcome(t, "matrix", "7", code); r.Outcome != access.Wrong {
		t.Errorf("on another channel: %+v", r)
	}
	changed := 0
	restarted := &desk{Pairings: &access.Pairings{File: d.File, State: d.state.of, Now: d.Now, Logger: d.Logger, Changed: func() { changed++ }}, state: d.state, now: d.now}
	typed := "/start  " + strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(code, "-", " – "), "1", "l"), "0", "o")) + "\u200b\n"
	if r := restarted.outcome(t, "telegram", "7", typed); r != (access.Redemption{Outcome: access.Paired, Role: access.Friend}) {
		t.Errorf("%q: %+v", typed, r)
	}
	if who := d.File.Rules().People(); changed != 1 || len(who) != 1 || who[0].ID != "7" || who[0].Role != access.Friend || who[0].Who != "Ann" {
		t.Errorf("%+v", who)
	}
	if r := d.outcome(t, "telegram", "8", code); r.Outcome != access.Wrong {
		t.Errorf("again: %+v", r)
	}
	owner := d.code(t, "telegram", access.Owner)
	if r := d.outcome(t, "telegram", "9", owner); r.Role != access.Owner {
		t.Errorf("%+v", r)
	}
	late := d.code(t, "telegram", access.Owner)
	d.now = d.now.Add(time.Hour)
	if r := d.outcome(t, "telegram", "10", late); r.Outcome != access.Wrong {
		t.Errorf("after an hour: %+v", r)
	}
	if _, _, err := d.New(t.Context(), "telegram", access.Blocked); err == nil {
		t.Error("a code to be blocked")
	}
	for _, secret := range []string{code, strings.ReplaceAll(code, "-", ""), owner} {
		if strings.Contains(d.log.String()+fmt.Sprint(d.state.values), secret) {
			t.Errorf("a code is kept or logged: %s", d.log.String())
		}
	}
	for _, line := range []string{"msg=paired channel=telegram sender=7 role=friend", `msg="wrong pairing code" channel=telegram sender=8 attempts=1`} {
		if !strings.Contains(d.log.String(), line) {
			t.Errorf("no %s in\n%s", line, d.log.String())
		}
	}
}

// TestWrongCodes checks that a sender has five attempts an hour, and a channel thirty, also across a restart.
func TestWrongCodes(t *testing.T) {
	d := newDesk(t.TempDir())
	code := d.code(t, "telegram", access.Friend)
	for i := range 5 {
		if r := d.outcome(t, "telegram", "1", wrong(i)); r.Outcome != access.Wrong {
			t.Errorf("%d: %+v", i, r)
		}
	}
	if r := d.outcome(t, "telegram", "1", code); r.Outcome != access.Refused {
		t.Errorf("the sixth: %+v", r)
	}
	if r := d.outcome(t, "telegram", "2", code); r.Outcome != access.Paired {
		t.Errorf("of somebody else: %+v", r)
	}
	d.now = d.now.Add(time.Hour)
	code = d.code(t, "telegram", access.Friend)
	for i := range 30 {
		r := d.outcome(t, "telegram", fmt.Sprint("s", i), wrong(i))
		if r.Outcome != access.Wrong || r.Closed.IsZero() != (i < 29) {
			t.Errorf("%d: %+v", i, r)
		}
	}
	for range 3 {
		if r := d.outcome(t, "telegram", "3", code); r.Outcome != access.Refused || !r.Closed.IsZero() {
			t.Errorf("while closed: %+v", r)
		}
	}
	if !strings.Contains(d.log.String(), `level=ERROR msg="pairing closed after too many wrong codes" channel=telegram`) {
		t.Error(d.log.String())
	}
	if r := d.outcome(t, "matrix", "3", d.code(t, "matrix", access.Friend)); r.Outcome != access.Paired {
		t.Errorf("another channel: %+v", r)
	}
	d.now = d.now.Add(time.Hour)
	if r := d.outcome(t, "telegram", "3", d.code(t, "telegram", access.Friend)); r.Outcome != access.Paired {
		t.Errorf("an hour later: %+v", r)
	}
}

// TestNameOfAStranger checks that what somebody calls themselves does nothing in the file, which a person opens in Org.
func TestNameOfAStranger(t *testing.T) {
	for _, name := range []string{"[[elisp:(ding)][me]]", "call_x() src_sh{ls}", "{{{eval(1)}}}", "<<<x>>> [[shell:ls]]", "Ann\u202e | owner |", "*** TODO x :agenttask:", "-*- eval: (ding) -*-"} {
		d := newDesk(t.TempDir())
		m := message("7")
		m.Sender.Name, m.Text = name, d.code(t, "telegram", access.Friend)
		if r, err := d.Redeem(t.Context(), "telegram", m); err != nil || r.Outcome != access.Paired {
			t.Fatalf("%s: %+v, %v", name, r, err)
		}
		text, err := os.ReadFile(d.File.Path)
		if err != nil {
			t.Fatal(err)
		}
		if inert, reason := org.IsInert(string(text)); !inert {
			t.Errorf("%s: %s in\n%s", name, reason, text)
		}
		if who := d.File.Rules().People(); len(who) != 1 || who[0].Role != access.Friend {
			t.Errorf("%s: %+v", name, who)
		}
	}
}

// TestRace checks that of many who send one code at the same time, one is added.
func TestRace(t *testing.T) {
	d := newDesk(t.TempDir())
	code := d.code(t, "telegram", access.Owner)
	var group sync.WaitGroup
	var paired, others atomic.Int32
	for i := range 100 {
		group.Go(func() {
			m := message(fmt.Sprint("s", i))
			m.Text = code
			switch r, err := d.Redeem(t.Context(), "telegram", m); {
			case err != nil:
				t.Error(err)
			case r.Outcome == access.Paired:
				paired.Add(1)
			default:
				others.Add(1)
			}
		})
	}
	group.Wait()
	if paired.Load() != 1 || others.Load() != 99 || len(d.File.Rules().People()) != 1 {
		t.Errorf("%d were added, %d not: %+v", paired.Load(), others.Load(), d.File.Rules().People())
	}
}

// TestFailedPairing checks that a code stays valid while its row cannot be written, and is not used while it cannot be
// taken back.
func TestFailedPairing(t *testing.T) {
	d := newDesk(t.TempDir())
	code := d.code(t, "telegram", access.Friend)
	m := message("7")
	m.Text = code
	lock := filepath.Join(filepath.Dir(d.File.Path), ".#channels.org")
	if err := os.Symlink("me@here.1:1", lock); err != nil {
		t.Fatal(err)
	}
	if r, err := d.Redeem(t.Context(), "telegram", m); err == nil || !strings.Contains(err.Error(), "unsaved changes") || r.Outcome == access.Paired {
		t.Errorf("%+v, %v", r, err)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	d.state.full = errors.New("the disk is full")
	if r, err := d.Redeem(t.Context(), "telegram", m); !errors.Is(err, d.state.full) || r.Outcome == access.Paired || len(d.File.Rules().People()) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	d.state.full = nil
	if r := d.outcome(t, "telegram", "7", code); r.Outcome != access.Paired {
		t.Errorf("%+v", r)
	}
	if err := d.File.Set("telegram", "8", "", access.Blocked, today); err != nil {
		t.Fatal(err)
	}
	m = message("8")
	m.Text = d.code(t, "telegram", access.Owner)
	if _, err := d.Redeem(t.Context(), "telegram", m); err == nil || d.File.Rules().Decide("telegram", message("8")).Verdict != access.Ignore {
		t.Errorf("who was blocked let themselves in: %v", err)
	}
}

// TestTypedCode: a code is taken whatever its case and however it is divided, and no text of other characters is one.
func TestTypedCode(t *testing.T) {
	directory := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		if err := os.RemoveAll(filepath.Join(directory, "channels.org")); err != nil {
			t.Fatal(err)
		}
		d := newDesk(directory)
		code, _, err := d.New(context.Background(), "telegram", access.Friend)
		if err != nil {
			t.Fatal(err)
		}
		var typed strings.Builder
		for _, c := range strings.ReplaceAll(code, "-", "") {
			text := string(c)
			if rapid.Bool().Draw(t, "small") {
				text = strings.ToLower(text)
			}
			typed.WriteString(text + rapid.SampledFrom([]string{"", "", "", "-", " ", "—", "\u00a0"}).Draw(t, "between"))
		}
		m := message("7")
		m.Text = typed.String()
		if broken := rapid.Bool().Draw(t, "broken"); broken {
			m.Text += rapid.SampledFrom([]string{"!", "u", "é", "0"}).Draw(t, "more")
			if r, err := d.Redeem(context.Background(), "telegram", m); err != nil || r.Outcome != access.NoCode {
				t.Fatalf("%q: %+v, %v", m.Text, r, err)
			}
		} else if r, err := d.Redeem(context.Background(), "telegram", m); err != nil || r.Outcome != access.Paired {
			t.Fatalf("%q: %+v, %v", m.Text, r, err)
		}
	})
}
