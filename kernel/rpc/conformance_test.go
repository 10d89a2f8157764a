package rpc_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chewxy/sexp"
	"github.com/rogpeppe/go-internal/txtar"

	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

var update = flag.Bool("update", false, "write what the JSON codec answers into testdata")

// TestConformance plays the client's side of testdata/*.txtar to a server, in
// both codecs, and compares all that comes back. Lines of the client:
//
//	{…}            a message, in either codec
//	json BODY      the body of a frame, for the JSON codec only; so plist BODY
//	bytes json "…" bytes without a frame, as a Go string; so bytes plist "…"
//	wait 30s       time passes
//
// The server's are its messages as JSON, "closed" when it closes, and a line with
// the time that has passed where it is not the moment of the line before.
//
// A case may bring a handler of its own, see [caseHandler]. What it was given stands
// among the server's lines as "took METHOD PARAMS", what the client answered it as
// "had METHOD RESULT".
func TestConformance(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range archive.Files {
			names = append(names, f.Name)
		}
		if order := strings.Join(names, " "); order != "client server" && order != "client handler server" {
			t.Fatalf("%s: want the files client, maybe handler, and server, not %s", file, order)
		}
		handler := parseHandler(t, archive)
		answer := &archive.Files[len(archive.Files)-1]
		script, want := string(archive.Files[0].Data), string(answer.Data)
		for _, spelling := range spellings() {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+spelling.name, func(t *testing.T) {
				var got string
				synctest.Test(t, func(t *testing.T) { got = play(t, script, handler, spelling) })
				if *update && spelling.name == "json" {
					answer.Data = []byte(got)
					want = got
					if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				if got := comparable(got); got != comparable(want) {
					t.Errorf("got\n%s\nwant\n%s", got, comparable(want))
				}
			})
		}
	}
}

var sizes = regexp.MustCompile(`a message of \d+ bytes`)

// comparable cuts what the codecs say each in its own words: the reader's own
// complaint, and what a value should have been; and how long the server lingers
// for a peer that it has cut off, a second at most, which is up to the peer.
func comparable(transcript string) string {
	transcript = strings.ReplaceAll(transcript, "# 1s\nclosed", "closed")
	transcript = sizes.ReplaceAllString(transcript, "a message of N bytes")
	var b strings.Builder
	for line := range strings.Lines(transcript) {
		for _, from := range []string{" wants ", "the frame is not one "} {
			if before, _, found := strings.Cut(line, from); found {
				line = before + from + "…\n"
			}
		}
		b.WriteString(line)
	}
	return b.String()
}

type spelling struct {
	name string
	wire rpc.Wire
}

func spellings() []spelling {
	return []spelling{{"json", rpc.NewWire(rpc.JSON)}, {"plist", rpc.NewWire(rpc.Plist)}}
}

// play runs a script against a server and returns what it sent.
func play(t *testing.T, script string, handler *caseHandler, spelling spelling) string {
	near, far := net.Pipe()
	transcript := &transcript{begin: time.Now(), methods: map[string]string{}}
	server := &rpc.Server{Token: testToken, Version: "1.2", Handler: handler.handler(transcript.write), Info: func() protocol.ServerInfo {
		return protocol.ServerInfo{PID: 42, Home: "/home/me/.org-agent"}
	}}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan struct{})
	go func() {
		defer close(served)
		server.ServeConn(ctx, far)
	}()
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		transcript.listen(near, spelling.wire)
	}()
	for line := range strings.Lines(script) {
		line = strings.TrimSuffix(line, "\n")
		if pause, ok := strings.CutPrefix(line, "wait "); ok {
			d, err := time.ParseDuration(pause)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(d)
		} else if b := transcript.bytesOf(t, line, spelling); b != nil {
			// A write fails where the server has closed, which the transcript shows.
			_, _ = near.Write(b)
		}
		synctest.Wait()
	}
	near.Close()
	<-heard
	<-served
	cancel()
	return transcript.text.String()
}

type transcript struct {
	begin   time.Time
	mu      sync.Mutex // guards last and text: a handler writes too
	last    time.Duration
	text    strings.Builder
	methods map[string]string // of the requests sent, by id as JSON spells it
}

// bytesOf is what a line of the script sends in a codec; nil: nothing.
func (tr *transcript) bytesOf(t *testing.T, line string, spelling spelling) []byte {
	if rest, ok := strings.CutPrefix(line, "bytes "); ok {
		name, quoted, _ := strings.Cut(rest, " ")
		text, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if name != spelling.name {
			return nil
		}
		return []byte(text)
	}
	name, body, _ := strings.Cut(line, " ")
	switch {
	case line == "" || name == "#":
		return nil
	case name == "json" || name == "plist":
		if name != spelling.name {
			return nil
		}
		return spelling.wire.AppendFrame(nil, []byte(body))
	}
	var head struct {
		ID     json.RawMessage
		Method any
	}
	if err := json.Unmarshal([]byte(line), &head); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	method, _ := head.Method.(string) // what is no method is a case, too
	tr.methods[string(head.ID)] = method
	if spelling.name == "json" {
		return spelling.wire.AppendFrame(nil, []byte(line))
	}
	dec := json.NewDecoder(strings.NewReader(line))
	dec.UseNumber()
	return spelling.wire.AppendFrame(nil, plist.AppendPrint(nil, treeOf(t, dec, "", enumsOf(method))))
}

// enumsOf has the keys of a method's parameters that are enums.
func enumsOf(method string) map[string]bool {
	keys := map[string]bool{}
	row, known := methodOf(method)
	if !known || row.Params.Kind() != reflect.Struct {
		return keys
	}
	for field := range row.Params.Fields() {
		if field.Type.Implements(reflect.TypeFor[interface{ PlistKeyword() }]()) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			keys[name] = true
		}
	}
	return keys
}

// methodOf is the row of a method in the table of the protocol.
func methodOf(name string) (row protocol.Method, known bool) {
	all := protocol.Methods()
	i := slices.IndexFunc(all, func(m protocol.Method) bool { return m.Name == name })
	if i < 0 {
		return row, false
	}
	return all[i], true
}

// treeOf is the tree of a JSON value by its shape, with keywords under the keys
// of enums, those of any object and those given.
func treeOf(t *testing.T, dec *json.Decoder, key string, enums map[string]bool) sexp.Sexp {
	token, err := dec.Token()
	if err != nil {
		t.Fatal(err)
	}
	switch v := token.(type) {
	case json.Delim:
		var list sexp.List
		for dec.More() {
			if v == '{' {
				name, err := dec.Token()
				if err != nil {
					t.Fatal(err)
				}
				key = name.(string)
				list = append(list, plist.Keyword(key))
			}
			list = append(list, treeOf(t, dec, key, enums))
		}
		if _, err := dec.Token(); err != nil {
			t.Fatal(err)
		}
		return list
	case string:
		if protocol.IsEnumKey(key) || enums[key] {
			return plist.Keyword(v)
		}
		return plist.String(v)
	case json.Number:
		return plist.BigInt(v.String())
	case bool:
		if v {
			return plist.T
		}
	}
	return sexp.List(nil)
}

// listen writes down what the server sends until it closes.
func (tr *transcript) listen(c net.Conn, wire rpc.Wire) {
	r := bufio.NewReader(c)
	for {
		first, err := r.Peek(1)
		if err == nil { // by its own choice it answers a stranger in JSON
			wire = spellings()[strings.IndexByte("C0", first[0])].wire
		}
		body, err := wire.ReadBody(r)
		if err != nil {
			tr.hear(err)
			return
		}
		m, err := wire.Decode(body, func(id string) any {
			if row, _ := methodOf(tr.methods[id]); row.Result != nil {
				return reflect.New(row.Result).Interface()
			}
			return nil
		})
		if err != nil {
			tr.hear(fmt.Errorf("%w in %s", err, body))
			return
		}
		line, err := rpc.NewWire(rpc.JSON).Encode(m)
		if err != nil {
			tr.hear(err)
			return
		}
		tr.write(string(line))
	}
}

func (tr *transcript) hear(err error) {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		tr.write("closed")
	case errors.Is(err, io.ErrClosedPipe):
	default:
		tr.write(err.Error())
	}
}

func (tr *transcript) write(line string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if passed := time.Since(tr.begin); passed != tr.last {
		tr.last = passed
		fmt.Fprintf(&tr.text, "# %v\n", passed)
	}
	tr.text.WriteString(line + "\n")
}

// scripted is the handler of most cases: it does what an event's text says.
func scripted(ctx context.Context, r *rpc.Request) (any, error) {
	switch p := r.Params.(type) {
	case *protocol.Empty:
		if r.Method == protocol.MethodStatus {
			return protocol.StatusResult{Version: "1.2", PID: 42, Skills: 2}, nil
		}
		return nil, nil
	case *protocol.SessionLoadParams:
		r.Client.Notify(protocol.MethodTurnKept, protocol.StoredTurn{Session: p.Session, State: protocol.TurnAnswered, Question: "* q?\n"})
		return &protocol.SessionLoadResult{Session: p.Session, Keeper: p.Watch, NeverReceived: p.IDs}, nil
	case *protocol.Object:
		e, err := protocol.ParseEvent(*p)
		if err != nil {
			return nil, err
		}
		return perform(ctx, r, e)
	}
	return nil, fmt.Errorf("the secret of %s", r.Method)
}

func perform(ctx context.Context, r *rpc.Request, e protocol.Event) (any, error) {
	result := protocol.EventResult{Event: e.ID, Turn: "t1", State: protocol.TurnQueued}
	switch e.Text {
	case "panic":
		panic("at the disco")
	case "wrong type":
		return 5, nil
	case "wait":
		r.Release()
		<-ctx.Done()
		return nil, ctx.Err()
	case "hold": // the order
		time.Sleep(time.Second)
	case "act":
		r.Release()
		receipt, err := r.Client.Act(ctx, protocol.Act{ID: "a1", Event: e.ID, Type: protocol.TypeRequest, Target: "emacs", Payload: e.Payload})
		if err != nil {
			return nil, fmt.Errorf("act: %w", err)
		}
		result.Turn = fmt.Sprintf("%+v", receipt)
	case "delta":
		for i, text := range []string{"a", "ä", "😀"} {
			r.Client.Notify(protocol.MethodTurnDelta, protocol.TurnDelta{Turn: "t1", ID: "a1", Offset: i, Text: text})
		}
	case "huge":
		result.Turn = string(bytes.Repeat([]byte("x"), protocol.FrameLimit))
	}
	return result, nil
}
