package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

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

// seeds adds what the clients of testdata send.
func seeds(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(archive.Files[0].Data)) {
			line = strings.TrimSpace(line)
			name, body, _ := strings.Cut(line, " ")
			switch name {
			case "bytes":
				_, quoted, _ := strings.Cut(body, " ")
				if text, err := strconv.Unquote(quoted); err == nil {
					f.Add([]byte(text))
				}
			case "json":
				f.Add(lengthFraming{}.appendFrame(nil, []byte(body)))
			case "plist":
				f.Add(hexFraming{}.appendFrame(nil, []byte(body)))
			case "wait", "#", "":
			default:
				f.Add(lengthFraming{}.appendFrame(nil, []byte(line)))
			}
		}
	}
	f.Add([]byte(`00004a(:jsonrpc "2.0" :id 1 :method "event" :params (:sensor :chat-message :text "x"))`))
	f.Add([]byte("800000("))
	f.Add([]byte("Content-Length: 8388608\r\n\r\n{"))
}

// Whatever comes, the stream reader neither panics nor takes memory for what was
// only promised, ends by itself, and what it answers is well-formed.
func FuzzStream(f *testing.F) {
	seeds(f)
	logger := slog.New(slog.DiscardHandler)
	f.Fuzz(func(t *testing.T, sent []byte) {
		peer := &replayed{Reader: bytes.NewReader(sent)}
		s := newStream(peer, nil, newSchema(), logger)
		written := begin(s.writeLoop)
		requests := 0
		for {
			m, err := s.read(noResult)
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
		c := spellings()[bytes.IndexByte([]byte("C0"), answers[0])].codec
		for _, m := range readAll(t, c, bytes.NewReader(answers)) {
			if m.kind != response || m.err == nil {
				t.Errorf("the stream itself answered %+v", m)
			}
		}
		if requests > len(sent)/10 {
			t.Errorf("%d requests in %d bytes", requests, len(sent))
		}
	})
}

// A message means the same in both codecs: what was read from one, written in
// the other and read again has the same parameters.
func FuzzCodecsAgree(f *testing.F) {
	seeds(f)
	both := spellings()
	f.Fuzz(func(t *testing.T, frame []byte) {
		_, body, found := bytes.Cut(frame, []byte("\r\n\r\n"))
		first, second := both[0].codec, both[1].codec
		if !found {
			body, first, second = frame[min(len(frame), plistHeader):], second, first
		}
		m, err := first.decode(body, noResult)
		if err != nil || m.kind == response || m.fault != nil || m.params == nil || m.method == protocol.MethodCancelRequest {
			return
		}
		translated, err := second.appendMessage(nil, m)
		if err != nil {
			return // it holds a word that no keyword can be
		}
		again, err := second.decode(translated, noResult)
		if err != nil || again.fault != nil {
			t.Fatalf("%s became %s: %v %v", body, translated, err, again.fault)
		}
		if o, ok := m.params.(*protocol.Object); ok {
			*o = withoutEmptyEnums(*o)
		}
		want, err1 := json.Marshal(m.params)
		got, err2 := json.Marshal(again.params)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) || again.id != m.id || again.method != m.method {
			t.Errorf("%s became %s\nwhich means %s\nrather than  %s", body, translated, got, want)
		}
	})
}

// withoutEmptyEnums leaves out what JSON can say and a plist cannot: the keyword
// without a name, which is nil.
func withoutEmptyEnums(o protocol.Object) protocol.Object {
	var kept protocol.Object
	for _, f := range o {
		switch v := f.Value.(type) {
		case protocol.Keyword:
			if v == "" {
				continue
			}
		case protocol.Object:
			if f.Value = withoutEmptyEnums(v); len(withoutEmptyEnums(v)) == 0 {
				continue
			}
		case []any:
			for i := range v {
				if inner, ok := v[i].(protocol.Object); ok {
					v[i] = withoutEmptyEnums(inner)
				}
			}
		}
		kept = append(kept, f)
	}
	return kept
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
