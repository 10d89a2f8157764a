package rpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// A caseHandler is the handler of a case. Each of its lines is a method and JSON:
// the result of a client's method, or a notification or request of the kernel's,
// which an event makes it send, in order. A nil one does as [scripted].
type caseHandler struct {
	results map[string]any
	sends   []outgoing
}

type outgoing struct {
	method string
	params any
}

// parseHandler reads the handler of a case, nil if it has none. Unknown methods and
// fields that a method does not have are faults of the case.
func parseHandler(t *testing.T, archive *txtar.Archive) *caseHandler {
	for _, file := range archive.Files {
		if file.Name != "handler" {
			continue
		}
		r := &caseHandler{results: map[string]any{}}
		for line := range strings.Lines(string(file.Data)) {
			method, body, _ := strings.Cut(strings.TrimSpace(line), " ")
			row, known := methodOf(method)
			switch {
			case !known:
				t.Fatalf("there is no method %q", method)
			case fromClient(method):
				r.results[method] = parseValue(t, line, body, row.Result)
			default:
				r.sends = append(r.sends, outgoing{method, parseValue(t, line, body, row.Params)})
			}
		}
		return r
	}
	return nil
}

// fromClient reports whether a client sends the method. In the table of the protocol their methods
// come first, and an act is the kernel's first.
func fromClient(method string) bool {
	isNamed := func(name string) func(protocol.Method) bool {
		return func(row protocol.Method) bool { return row.Name == name }
	}
	all := protocol.Methods()
	return slices.IndexFunc(all, isNamed(method)) < slices.IndexFunc(all, isNamed(protocol.MethodAct))
}

func parseValue(t *testing.T, line, body string, of reflect.Type) any {
	value := reflect.New(of)
	dec := json.NewDecoder(strings.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(value.Interface()); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return value.Elem().Interface()
}

func (r *caseHandler) handler(write func(line string)) rpc.Handler {
	if r == nil {
		return handlerFunc(scripted)
	}
	return handlerFunc(func(ctx context.Context, asked *rpc.Request) (any, error) {
		took, err := json.Marshal(asked.Params)
		if err != nil {
			return nil, err
		}
		write(fmt.Sprintf("took %s %s", asked.Method, took))
		if asked.Method == protocol.MethodEvent {
			for _, m := range r.sends {
				if row, _ := methodOf(m.method); row.Result == nil {
					asked.Client.Notify(m.method, m.params)
					continue
				}
				had, err := asked.Client.Ask(ctx, m.method, m.params)
				if err != nil {
					return nil, err
				}
				answer, err := json.Marshal(had)
				if err != nil {
					return nil, err
				}
				write(fmt.Sprintf("had %s %s", m.method, answer))
			}
		}
		result, known := r.results[asked.Method]
		if !known {
			return nil, fmt.Errorf("the case has no result of %s", asked.Method)
		}
		return result, nil
	})
}

// Each method stands in a case, and so in both codecs: as it is sent and, when it is a
// request, as it is answered.
func TestEveryMethodHasACase(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	sent, answered := map[string]bool{}, map[string]bool{}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		// The kernel's requests are answered above them, in the client's part.
		requests, results := map[string]string{}, map[string]bool{}
		for _, part := range archive.Files {
			for line := range strings.Lines(string(part.Data)) {
				var m struct {
					ID, Result json.RawMessage
					Method     string
				}
				switch {
				case !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &m) != nil:
				case m.Method != "":
					sent[m.Method] = true
					requests[string(m.ID)] = m.Method
				case m.Result != nil:
					results[string(m.ID)] = true
				}
			}
		}
		for id, method := range requests {
			answered[method] = answered[method] || results[id]
		}
	}
	for _, row := range protocol.Methods() {
		if !sent[row.Name] || row.Result != nil && !answered[row.Name] {
			t.Errorf("no case in testdata sends %s and has its result: add one to the file of its kind, then run this with -update", row.Name)
		}
	}
}

// Every field that a method's parameters and result have means the same in both
// codecs, whatever it holds.
func TestEveryFieldInBothCodecs(t *testing.T) {
	for _, row := range protocol.Methods() {
		if row.Name == protocol.MethodCancelRequest { // its one field is an id, see ids.txtar
			continue
		}
		for _, spelling := range spellings() {
			t.Run(row.Name+"/"+spelling.name, func(t *testing.T) {
				params, result := filled(row.Params), any(nil)
				if row.Result != nil {
					result = filled(row.Result)
				}
				body, err := spelling.wire.Request(1, row.Name, params)
				if err != nil {
					t.Fatal(err)
				}
				if got := read(t, spelling.wire, row, body); !reflect.DeepEqual(got.Params, params) || got.Result != nil {
					t.Errorf("%s\nis %+v %+v\nnot %+v", body, got.Params, got.Result, params)
				}
				if result == nil {
					return
				}
				if body, err = spelling.wire.Response(1, result); err != nil {
					t.Fatal(err)
				}
				if got := read(t, spelling.wire, row, body); !reflect.DeepEqual(got.Result, result) || got.Params != nil {
					t.Errorf("%s\nis %+v %+v\nnot %+v", body, got.Params, got.Result, result)
				}
			})
		}
	}
}

// read decodes a body, which may hold the result of the method.
func read(t *testing.T, wire rpc.Wire, row protocol.Method, body []byte) rpc.Message {
	t.Helper()
	got, err := wire.Decode(body, func(string) any { return reflect.New(row.Result).Interface() })
	if err != nil {
		t.Fatalf("%s cannot be read: %v", body, err)
	}
	return got
}

// filled is a pointer to a value of the type in which every field holds something that
// is hard to write.
func filled(of reflect.Type) any {
	v := reflect.New(of)
	fill(v.Elem())
	return v.Interface()
}

func fill(v reflect.Value) {
	const words = "\"q\" \\ (:a . nil) t ; é\n\t\r😀\u2028 <&>"
	if o, ok := v.Addr().Interface().(*protocol.Object); ok {
		*o = protocol.Object{{Key: "action", Value: protocol.Keyword("insert-at-end")}, {Key: "text", Value: words},
			{Key: "args", Value: protocol.Object{{Key: "n", Value: int64(-1)}, {Key: "list", Value: []any{"a", int64(2), 0.5, true}}}}}
		return
	}
	switch v.Kind() {
	case reflect.String:
		if _, enum := v.Interface().(interface{ PlistKeyword() }); enum {
			v.SetString("allow-once")
		} else {
			v.SetString(words)
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1<<53 - 1)
	case reflect.Float64:
		v.SetFloat(0.1)
	case reflect.Uint8:
		v.SetUint(0xff)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	default:
		panic("a field is a " + v.Type().String() + ", which nothing on the wire is yet")
	}
}
