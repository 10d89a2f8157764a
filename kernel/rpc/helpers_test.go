package rpc

import (
	"bufio"
	"errors"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// Tests inside and outside the package begin with these.

// Seeds adds what the clients of testdata send.
func Seeds(f *testing.F) {
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
				f.Add(NewWire(JSON).AppendFrame(nil, []byte(body)))
			case "plist":
				f.Add(NewWire(Plist).AppendFrame(nil, []byte(body)))
			case "wait", "#", "":
			default:
				f.Add(NewWire(JSON).AppendFrame(nil, []byte(line)))
			}
		}
	}
	f.Add([]byte(`00004a(:jsonrpc "2.0" :id 1 :method "event" :params (:sensor :chat-message :text "x"))`))
	f.Add([]byte("800000("))
	f.Add([]byte("Content-Length: 8388608\r\n\r\n{"))
}

// AppendRequest appends the frame of a request.
func AppendRequest(t testing.TB, w Wire, dst []byte, number uint64, method string, params any) []byte {
	t.Helper()
	body, err := w.Request(number, method, params)
	if err != nil {
		t.Fatal(err)
	}
	return w.AppendFrame(dst, body)
}

// NoResult leaves the results of responses unread.
func NoResult(string) any { return nil }

// ReadAll reads messages until the end.
func ReadAll(t testing.TB, w Wire, r io.Reader) []Message {
	t.Helper()
	var all []Message
	reader := bufio.NewReader(r)
	for {
		body, err := w.ReadBody(reader)
		if errors.Is(err, io.ErrUnexpectedEOF) && body == nil {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		m, err := w.Decode(body, NoResult)
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		all = append(all, m)
	}
}
