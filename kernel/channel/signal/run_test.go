package signal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest/signaltest"
)

// TestModes checks that each message is delivered once and in order, in each mode of the daemon, with one account and
// with several, over each kind of socket, and by one that knows no subscriptions.
func TestModes(t *testing.T) {
	for name, c := range map[string]signaltest.Config{
		"manual":                    {Mode: signaltest.Manual},
		"on connection":             {Mode: signaltest.OnConnection},
		"on start":                  {Mode: signaltest.OnStart},
		"several accounts":          {Mode: signaltest.Manual, Others: []signaltest.Account{{Number: "+4915100000009"}}},
		"several accounts on start": {Mode: signaltest.OnStart, Others: []signaltest.Account{{Number: "+4915100000009"}}},
		"one account of many":       {Shared: true},
		"tcp":                       {TCP: true},
		"old":                       {Mode: signaltest.OnStart, Old: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, c)
			r := run(t, s, &memory{}).connected()
			var want []string
			for n := range 200 {
				text := fmt.Sprint("message ", n)
				s.Deliver(said(int64(1_700_000_000_000+n), text))
				want = append(want, text)
				if len(c.Others) > 0 {
					s.DeliverTo(c.Others[0].Number, said(int64(1_700_000_100_000+n), "to somebody else"))
				}
			}
			r.wait(200)
			if got := texts(r.quiet()); !slices.Equal(got, want) {
				t.Errorf("%d messages came: %q", len(got), got)
			}
		})
	}
}

// TestNotTaken checks that a message that is not taken is delivered again before those after it, and that nothing else is
// delivered twice.
func TestNotTaken(t *testing.T) {
	s := start(t, signaltest.Config{})
	r := run(t, s, &memory{})
	times := 0
	r.refuses = func(m channel.Message) error {
		if m.Text == "2" && times < 3 {
			times++
			return errors.New("the disk is full")
		}
		return nil
	}
	for n := range 5 {
		s.Deliver(said(int64(1_700_000_000_000+n), fmt.Sprint(n)))
	}
	r.wait(5)
	if got := texts(r.quiet()); !slices.Equal(got, []string{"0", "1", "2", "3", "4"}) || times != 3 {
		t.Errorf("%q came, after %d refusals", got, times)
	}
}

// TestStopped checks that what was not taken when the channel ended is delivered by the next one, with the same ids, and
// only once more.
func TestStopped(t *testing.T) {
	s, state := start(t, signaltest.Config{}), &memory{}
	r := run(t, s, state)
	full := true
	r.refuses = func(m channel.Message) error {
		if full && m.Text == "2" {
			return errors.New("the disk is full")
		}
		return nil
	}
	for n := range 5 {
		s.Deliver(said(int64(1_700_000_000_000+n), fmt.Sprint(n)))
	}
	r.wait(2)
	s.Await("all of them to be reported", func() bool { return s.Waiting() == 0 })
	r.stop()
	if got := texts(r.messages()); !slices.Equal(got, []string{"0", "1"}) {
		t.Fatalf("%q came", got)
	}
	if _, subscriptions := s.Connections(); subscriptions > 0 {
		t.Error("the subscription was not ended")
	}
	s.Deliver(said(1_700_000_000_005, "5")) // waits at the servers

	next := run(t, s, state)
	got := next.wait(4)
	if !slices.Equal(texts(got), []string{"2", "3", "4", "5"}) || got[0].ID != ada.UUID+":1700000000002" {
		t.Errorf("%q came, the first as %s", texts(got), got[0].ID)
	}
	next.stop()
	if last := run(t, s, state).quiet(); len(last) > 0 {
		t.Errorf("%q came a third time", texts(last))
	}
}

// TestStateFails checks that nothing is forgotten when the state cannot be read at first.
func TestStateFails(t *testing.T) {
	s := start(t, signaltest.Config{})
	state := &memory{values: map[string]string{pendingKey: said(1_700_000_000_000, "kept")}, fails: errors.New("locked")}
	r := run(t, s, state)
	if got := r.quiet(); len(got) > 0 {
		t.Fatalf("%q came", texts(got))
	}
	state.mutex.Lock()
	state.fails = nil
	state.mutex.Unlock()
	if got := r.wait(1); got[0].Text != "kept" {
		t.Errorf("%q came", texts(got))
	}
}

// TestBackPressure checks that a daemon is read no further when too much waits, that nothing is lost by it, and that an
// end of the channel meanwhile loses nothing.
func TestBackPressure(t *testing.T) {
	s, state := start(t, signaltest.Config{}), &memory{}
	r := run(t, s, state)
	block := make(chan struct{})
	r.refuses = func(channel.Message) error { <-block; return nil }
	text, n := strings.Repeat("x", 64<<10), 40 // twice and a half of what there is room for
	for i := range n {
		s.Deliver(said(int64(1_700_000_000_000+i), fmt.Sprint(i, text)))
	}
	before := -1
	for now := s.Waiting(); now != before; now = s.Waiting() {
		before = now
		time.Sleep(100 * time.Millisecond)
	}
	if before == 0 {
		t.Errorf("all of %d messages of %d kB were read", n, len(text)>>10)
	}
	close(block)
	for i, m := range r.wait(n) {
		if !strings.HasPrefix(m.Text, fmt.Sprint(i, "x")) {
			t.Fatalf("message %d is %.9s", i, m.Text)
		}
	}
}

// TestAway checks that the daemon may go and come again, that what came to Signal meanwhile is delivered, and that
// nothing is sent meanwhile. A daemon that answers and dies is not asked without pauses.
func TestAway(t *testing.T) {
	s := start(t, signaltest.Config{})
	r := run(t, s, &memory{}).connected()
	for round := range 3 {
		s.Vanish()
		s.Deliver(said(int64(1_700_000_000_000+round), fmt.Sprint(round)))
		r.until("the end of the connection", func() bool { return r.link.Load() == nil })
		if _, err := r.Send(t.Context(), channel.Outgoing{ID: "o", Chat: ada.Number, Text: plain("lost?")}); class(err) != channel.Temporary {
			t.Errorf("while it is away: %v", err)
		}
		s.Return()
		r.wait(round + 1)
	}
	if got := texts(r.quiet()); !slices.Equal(got, []string{"0", "1", "2"}) || len(s.Sent(ada.Number)) > 0 {
		t.Errorf("%q came, %+v was sent", got, s.Sent(ada.Number))
	}
}

// TestPauses checks that the pauses grow to the longest and differ.
func TestPauses(t *testing.T) {
	p := pauses{first: time.Second, longest: 5 * time.Minute}
	var sum time.Duration
	for n := range 20 {
		pause := p.next()
		if longest := min(time.Second<<n, 5*time.Minute); pause > longest || pause < longest*3/4 {
			t.Errorf("pause %d is %s", n, pause)
		}
		sum += pause
	}
	if other := (&pauses{first: time.Second, longest: 5 * time.Minute}).next(); sum < 30*time.Minute || other == 0 {
		t.Errorf("all of them are %s", sum)
	}
}

// TestHour checks that a daemon that is away for an hour is asked some twenty times, and that the channel ends at once
// in the middle of a pause.
func TestHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log lockedBuffer
		d := New(Config{Account: agent.Number, Address: t.TempDir() + "/socket", Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- d.Run(ctx, func(context.Context, channel.Message) error { return nil })
		}()
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := strings.Count(log.String(), "not connected"); n < 15 || n > 30 {
			t.Errorf("it was asked %d times", n)
		}
		stop()
		began := time.Now()
		if err := <-ended; err != nil || time.Since(began) > 0 {
			t.Errorf("it ended with %v after %s", err, time.Since(began))
		}
	})
}

// TestUnusable checks that the channel ends where it cannot be used, and says what to do.
func TestUnusable(t *testing.T) {
	other := signaltest.Account{Number: "+4915100000009", UUID: "dddddddd-0000-4000-8000-000000000009"}
	for name, c := range map[string]struct {
		daemon  signaltest.Config
		account string
		address string
		prepare func(s *signaltest.Server)
		want    string
	}{
		"not among several":    {daemon: signaltest.Config{Account: other, Shared: true}, want: "link or register it with signal-cli"},
		"unregistered":         {prepare: func(s *signaltest.Server) { s.Block(agent, "UNREGISTERED_FAILURE", 0, "") }, want: "register it"},
		"the daemon's another": {daemon: signaltest.Config{Account: other, Mode: signaltest.OnStart}, prepare: func(s *signaltest.Server) { s.Register(agent); s.Deliver(said(1_700_000_000_000, "x")) }, want: "-a " + agent.Number},
		"no number":            {account: "491510", want: "+4915112345678"},
		"no address":           {address: "signal", want: "HOST:PORT"},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, c.daemon)
			if c.prepare != nil {
				c.prepare(s)
			}
			config := Config{Account: agent.Number, Address: s.Address(), Pause: time.Millisecond, LongestPause: time.Millisecond}
			if c.account != "" {
				config.Account = c.account
			}
			if c.address != "" {
				config.Address = c.address
			}
			ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
			defer stop()
			connected := make(chan struct{})
			if c.daemon.Mode == signaltest.OnStart { // what came before the connection is gone
				go func() {
					defer close(connected)
					s.Await("a connection", func() bool { n, _ := s.Connections(); return n > 0 })
					s.Deliver(said(1_700_000_000_001, "y"))
				}()
			} else {
				close(connected)
			}
			d := New(config)
			err := d.Run(ctx, func(context.Context, channel.Message) error { return nil })
			<-connected
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("it ended with %v", err)
			}
			if _, err := d.Send(ctx, channel.Outgoing{ID: "o", Chat: ada.Number, Text: plain("x")}); class(err) != channel.Temporary || ctx.Err() != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// TestDaemonWithoutNetwork checks that a daemon without any account, as one is that was started before there was a network,
// does not end the channel.
func TestDaemonWithoutNetwork(t *testing.T) {
	s := start(t, signaltest.Config{Shared: true})
	s.Unlink()
	if _, err := New(Config{Account: agent.Number, Address: s.Address()}).Check(t.Context()); err == nil || !strings.Contains(err.Error(), "start its daemon again") {
		t.Errorf("a check: %v", err)
	}
	r := run(t, s, &memory{})
	s.Await("some attempts", func() bool { return s.Calls("listAccounts") > 3 })
	s.Link()
	s.Deliver(said(1_700_000_000_000, "hello"))
	r.wait(1)
}

// TestCheck checks that the settings can be tried before they are kept.
func TestCheck(t *testing.T) {
	s := start(t, signaltest.Config{})
	person, err := New(Config{Account: agent.Number, Address: s.Address()}).Check(t.Context())
	if err != nil || person.ID != agent.Number || person.Username != agent.Number {
		t.Errorf("%+v, %v", person, err)
	}
	if _, err := New(Config{Account: agent.Number, Address: s.Address() + "x"}).Check(t.Context()); err == nil || !strings.Contains(err.Error(), "is its daemon running") {
		t.Errorf("without a daemon: %v", err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	s.Inject("listAccounts", signaltest.Outcome{Hang: true})
	if _, err := New(Config{Account: agent.Number, Address: s.Address()}).Check(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with one that does not answer: %v", err)
	}
}

// TestAccountWithoutNumber checks an account that has a UUID only.
func TestAccountWithoutNumber(t *testing.T) {
	s := start(t, signaltest.Config{Account: signaltest.Account{Number: agent.UUID, UUID: agent.UUID}, Shared: true})
	r := runWith(t, s, Config{Account: strings.ToUpper(agent.UUID), Address: s.Address()}).connected()
	id, err := r.Send(t.Context(), channel.Outgoing{ID: "o", Chat: ada.UUID, Text: plain("hello")})
	if err != nil || !strings.HasPrefix(id, agent.UUID+":") {
		t.Errorf("%s, %v", id, err)
	}
}

// TestAttachments checks that attachments are fetched when they are opened, also large ones, and that what cannot be
// fetched is said.
func TestAttachments(t *testing.T) {
	s := start(t, signaltest.Config{Shared: true})
	r := run(t, s, &memory{}).connected()
	large := bytes.Repeat([]byte("0123456789abcdef"), 10<<20/16)
	s.AddFile("large.bin", large)
	envelope := func(timestamp int64, file, group string) string {
		return strings.Replace(strings.Replace(said(timestamp, ""), `"expiresInSeconds"`, `"attachments":[`+file+`],`+group+`"expiresInSeconds"`, 1), `"message":""`, `"message":null`, 1)
	}
	inGroup := `"groupInfo":{"groupId":"` + groupID + `","groupName":"G","revision":1,"type":"DELIVER"},`
	s.Deliver(envelope(1_700_000_000_000, `{"contentType":"image/png","filename":"a.png","id":"large.bin","size":10485760}`, ""))
	s.AddFile("small.bin", []byte("small"))
	s.Deliver(envelope(1_700_000_000_001, `{"contentType":"image/png","filename":"a.png","id":"small.bin","size":5}`, inGroup))
	s.Deliver(envelope(1_700_000_000_002, `{"contentType":"image/png","filename":"a.png","id":"gone","size":1}`, ""))
	s.Deliver(envelope(1_700_000_000_003, `{"contentType":"image/png","filename":"a.png","id":null,"size":1}`, ""))
	s.Deliver(envelope(1_700_000_000_004, `{"contentType":"image/png","filename":"a.png","id":"large.bin","size":104857600}`, ""))
	took := r.wait(5)
	contents := [][]byte{large, []byte("small")}
	for n, want := range []string{"", "", "Could not find", "--ignore-attachments", "48 are read at most"} {
		file, err := took[n].Attachments[0].Open(t.Context())
		if want != "" {
			if class(err) != channel.Refused || !strings.Contains(err.Error(), want) {
				t.Errorf("file %d: %v", n, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(file)
		if err != nil || !bytes.Equal(data, contents[n]) || file.Close() != nil {
			t.Errorf("file %d has %d bytes, %v", n, len(data), err)
		}
	}
}

// TestLongLines checks that an attachment that is larger than announced is given up, with the connection whole.
func TestLongLines(t *testing.T) {
	var lines strings.Builder
	lines.WriteString(strings.Repeat("x", 100) + "\n" + strings.Repeat("y", 300_000) + "\nshort\r\n" + strings.Repeat("z", 200_000) + "\n\nend")
	r := newLineReader(strings.NewReader(lines.String()), 250_000)
	for n, want := range []struct {
		length int
		err    error
	}{{100, nil}, {0, errTooLong}, {5, nil}, {200_000, nil}, {0, nil}, {0, io.ErrUnexpectedEOF}, {0, io.EOF}} {
		line, err := r.next()
		if len(line) != want.length || !errors.Is(err, want.err) {
			t.Errorf("line %d has %d bytes, %v", n, len(line), err)
		}
	}

	s := start(t, signaltest.Config{})
	d := New(Config{Account: agent.Number, Address: s.Address(), Pause: time.Millisecond})
	d.limits.file = 1 << 20
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = d.Run(ctx, func(context.Context, channel.Message) error { return nil }) })
	defer running.Wait()
	defer stop()
	s.Await("a subscription", func() bool { _, n := s.Connections(); return n == 1 })
	for d.link.Load() == nil {
		time.Sleep(time.Millisecond)
	}
	s.Inject("getAttachment", signaltest.Outcome{Hang: true})
	var opening sync.WaitGroup
	opening.Go(func() {
		if _, err := d.open(t.Context(), "a", -1, ada.Number); class(err) != channel.Refused {
			t.Errorf("it was opened: %v", err)
		}
	})
	s.Await("the call", func() bool { return s.Calls("getAttachment") == 1 })
	s.Raw(`{"jsonrpc":"2.0","result":{"data":"` + strings.Repeat("AAAA", 1<<19) + `"},"id":9}`)
	opening.Wait()
	if _, err := d.Send(t.Context(), channel.Outgoing{ID: "o", Chat: ada.Number, Text: plain("still here")}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestNoise checks that what is not for conversations, or in another form, does no harm.
func TestNoise(t *testing.T) {
	s := start(t, signaltest.Config{})
	r := run(t, s, &memory{}).connected()
	for _, line := range []string{
		`{}`, `{"jsonrpc":"2.0","method":"callEvent","params":{}}`, `{"jsonrpc":"2.0","method":"receive"}`,
		`{"jsonrpc":"2.0","method":"receive","params":{"subscription":1,"result":{"account":"` + agent.Number + `","exception":{"message":"untrusted","type":"UntrustedIdentityException"}}}}`,
		`{"jsonrpc":"2.0","method":"receive","params":[1]}`, `{"jsonrpc":"2.0","result":{},"id":4711}`,
		`{"jsonrpc":"2.0","error":{"code":-32700,"message":"x","data":null},"id":null}`,
	} {
		s.Raw(line)
	}
	s.Deliver(said(1_700_000_000_000, "hello"))
	if got := r.wait(1); got[0].Text != "hello" {
		t.Errorf("%+v", got)
	}
	s.Raw("Exception in thread main") // of a daemon that prints to the wrong place
	s.Deliver(said(1_700_000_000_001, "again"))
	r.wait(2)
}

// TestAnotherProgram checks that somebody who is not signal-cli is left at once.
func TestAnotherProgram(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			socket, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(socket, "SSH-2.0-OpenSSH_9.2\r\n")
			defer socket.Close()
		}
	})
	defer serving.Wait()
	defer listener.Close()
	if _, err := New(Config{Account: agent.Number, Address: listener.Addr().String()}).Check(t.Context()); err == nil || !strings.Contains(err.Error(), "not signal-cli") {
		t.Errorf("%v", err)
	}
}

// TestLog checks that nothing that people write is in the log, and that a daemon that is away is warned of once.
func TestLog(t *testing.T) {
	var log lockedBuffer
	s := start(t, signaltest.Config{})
	r := runWith(t, s, Config{Account: agent.Number, Address: s.Address(), Logger: slog.New(slog.NewTextHandler(&log, nil))}).connected()
	s.Deliver(said(1_700_000_000_000, "a confession"))
	r.wait(1)
	s.Vanish()
	time.Sleep(300 * time.Millisecond)
	r.stop()
	if text := log.String(); strings.Contains(text, "confession") || strings.Count(text, "WARN") != 1 {
		t.Errorf("the log is\n%s", text)
	}
}

// lockedBuffer is a buffer for many goroutines.
type lockedBuffer struct {
	mutex sync.Mutex
	b     bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.b.String()
}

// TestIdentity checks that the UUID of the account is asked for once, and known to the next channel.
func TestIdentity(t *testing.T) {
	s, state := start(t, signaltest.Config{}), &memory{}
	run(t, s, state).connected().stop()
	run(t, s, state).connected().stop()
	if n := s.Calls("getUserStatus"); n != 1 || state.values[uuidKey] != agent.Number+" "+agent.UUID {
		t.Errorf("it was asked for %d times and is %q", n, state.values[uuidKey])
	}
	s.Inject("getUserStatus", signaltest.Outcome{Error: &signaltest.Error{Code: signaltest.IOError, Message: "Unable to check if users are registered"}})
	r := run(t, s, nil).connected() // it has none, and works
	archive, err := os.ReadFile("testdata/envelopes.txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(archive), "-- note-to-self.json --\n")
	note, _, _ := strings.Cut(rest, "\n")
	s.Deliver(note)
	if got := r.wait(1); !got[0].Myself || *r.uuid.Load() != agent.UUID {
		t.Errorf("a note to self is %+v", got[0])
	}
}

// TestEdits checks that what happens to the edit of a message is about the message, also in the next channel, and that
// no more edits are known than the state is to hold.
func TestEdits(t *testing.T) {
	s, state := start(t, signaltest.Config{}), &memory{}
	edit := func(timestamp, target int64) {
		line := strings.Replace(said(timestamp, "new"), `"dataMessage":`, fmt.Sprintf(`"editMessage":{"targetSentTimestamp":%d,"dataMessage":`, target), 1) + "}"
		s.Deliver(line)
	}
	original := ada.UUID + ":1700000000000"
	r := run(t, s, state)
	edit(1_700_000_000_001, 1_700_000_000_000) // of a message that came before all channels
	r.wait(1)
	mine, err := r.Send(t.Context(), channel.Outgoing{ID: "o", Chat: ada.UUID, Text: plain("one")})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Edit(t.Context(), ada.UUID, mine, plain("two")); err != nil {
		t.Fatal(err)
	}
	r.stop()

	r = run(t, s, state)
	edit(1_700_000_000_002, 1_700_000_000_001)
	if got := r.wait(1)[0]; got.Kind != channel.Edited || got.Of != original {
		t.Errorf("the edit of an edit is %+v", got)
	}
	_, sent, err := splitID(mine)
	if err != nil {
		t.Fatal(err)
	}
	s.Deliver(strings.Replace(said(1_700_000_000_003, ""), `"expiresInSeconds"`, fmt.Sprintf(
		`"reaction":{"emoji":"x","targetAuthor":%q,"targetAuthorNumber":%[1]q,"targetAuthorUuid":%q,"targetSentTimestamp":%d,"isRemove":false},"expiresInSeconds"`, agent.Number, agent.UUID, sent+1), 1))
	if got := r.wait(2)[1]; got.Kind != channel.Reacted || got.Of != mine {
		t.Errorf("the reaction to the edit of %s is %+v", mine, got)
	}
	for n := range int64(2 * editBound) {
		r.edited(t.Context(), fmt.Sprint("edit", n), "x")
	}
	if n := strings.Count(state.values[editsKey], "\n") + 1; n != editBound || len(r.edits.first) != editBound || r.edits.original("edit0") != "edit0" || r.edits.original("edit199") != "x" {
		t.Errorf("%d edits are kept, %d known", n, len(r.edits.first))
	}
}
