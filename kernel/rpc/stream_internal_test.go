package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"org-agent/kernel/protocol"
)

// replayed is a connection on which everything came already.
type replayed struct {
	io.Reader
	net.Conn // nil: only what is here may be called
	sent     bytes.Buffer
}

func (r *replayed) Read(b []byte) (int, error)       { return r.Reader.Read(b) }
func (r *replayed) Write(b []byte) (int, error)      { return r.sent.Write(b) }
func (r *replayed) Close() error                     { return nil }
func (r *replayed) SetReadDeadline(time.Time) error  { return nil }
func (r *replayed) SetWriteDeadline(time.Time) error { return nil }

// Whatever comes, the stream reader neither panics nor takes memory for what was
// only promised, ends by itself, and what it answers is well-formed.
func FuzzStream(f *testing.F) {
	Seeds(f)
	logger := slog.New(slog.DiscardHandler)
	f.Fuzz(func(t *testing.T, sent []byte) {
		peer := &replayed{Reader: bytes.NewReader(sent)}
		s := newStream(peer, nil, newSchema(), logger)
		written := begin(s.writeLoop)
		requests := 0
		for {
			m, err := s.read(func(id) any { return nil })
			if err != nil {
				break
			}
			if m.kind != response {
				requests++
			}
		}
		if cap(s.body) > 4*len(sent)+firstRead {
			t.Errorf("%d bytes are kept for %d", cap(s.body), len(sent))
		}
		s.finish(written, time.Minute)
		answers := peer.sent.Bytes()
		if len(answers) == 0 {
			return
		}
		wire := NewWire(Codec(bytes.IndexByte([]byte("C0"), answers[0])))
		for _, m := range ReadAll(t, wire, bytes.NewReader(answers)) {
			if m.message.kind != response || m.Err == nil {
				t.Errorf("the stream itself answered %+v", m.message)
			}
		}
		if requests > len(sent)/10 {
			t.Errorf("%d requests in %d bytes", requests, len(sent))
		}
	})
}

// A length is a promise: memory is taken for what has come.
func TestBodyIsNotAllocatedAhead(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	body, err := readBody(strings.NewReader("abc"), nil, protocol.FrameLimit)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, io.ErrUnexpectedEOF) || string(body) != "abc" {
		t.Errorf("read %q, %v", body, err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 64<<10 {
		t.Errorf("%d bytes were allocated", got)
	}
	whole := strings.Repeat("0123456789", 100_000)
	body, err = readBody(iotest.OneByteReader(strings.NewReader(whole)), nil, len(whole))
	if err != nil || string(body) != whole {
		t.Errorf("read %d bytes, %v", len(body), err)
	}
}

// FuzzPrune: what is taken out of an object means nothing, and the rest stays.
func FuzzPrune(f *testing.F) {
	for _, seed := range []string{`{"a":null,"b":[null,{}],"c":{"d":false}}`, ` { "a" : "x\"}\\" , "b" : [ ] } `, `[1,{"a":{}}]`, `"x"`, `-1.5e3`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) {
			return
		}
		pruned, changed := prune([]byte(text))
		var got, want any
		if err := json.Unmarshal(pruned, &got); err != nil {
			t.Fatalf("%s became %s: %v", text, pruned, err)
		}
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		bare := withoutNothing(want)
		a, err1 := json.Marshal(got)
		b, err2 := json.Marshal(bare)
		if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Errorf("%s became %s, not %s", text, a, b)
		}
		if again, more := prune(pruned); more || !bytes.Equal(again, pruned) {
			t.Errorf("%s became %s at the second time", pruned, again)
		}
		if !changed && len(pruned) > len(text) {
			t.Errorf("%s grew to %s", text, pruned)
		}
	})
}

func withoutNothing(x any) any {
	switch x := x.(type) {
	case map[string]any:
		for key, value := range x {
			value = withoutNothing(value)
			x[key] = value
			switch v := value.(type) {
			case nil:
				delete(x, key)
			case bool:
				if !v {
					delete(x, key)
				}
			case []any:
				if len(v) == 0 {
					delete(x, key)
				}
			case map[string]any:
				if len(v) == 0 {
					delete(x, key)
				}
			}
		}
	case []any:
		for i := range x {
			x[i] = withoutNothing(x[i])
		}
	}
	return x
}
