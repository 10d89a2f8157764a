package protocol_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"org-agent/kernel/protocol"
)

func TestParseEvent(t *testing.T) {
	cases := []struct {
		json string
		code protocol.Code // 0: taken
		says string
	}{
		{`{"sensor":"chat-message","text":"hi"}`, 0, ""},
		{`{"SENSOR":"Chat-Message","text":"hi","level":3,"chat-id":"1"}`, 0, ""},
		{`{"type":"event","sensor":"chat-message","text":"hi"}`, 0, ""},
		{`{"sensor":"buffer-update","file":"a.org"}`, 0, ""},
		{`{}`, protocol.CodeInvalidParams, ":sensor"},
		{`{"sensor":"chat-message","text":" \n"}`, protocol.CodeInvalidParams, "nothing to send"},
		{`{"sensor":"chat-message"}`, protocol.CodeInvalidParams, "nothing to send"},
		{`{"sensor":"chat-message","text":5}`, protocol.CodeInvalidParams, ":text must be text"},
		{`{"sensor":"chat-message","text":"x","level":0}`, protocol.CodeInvalidParams, ":level"},
		{`{"sensor":"chat-message","text":"x","session":"../x"}`, protocol.CodeInvalidParams, "session name"},
		{`{"sensor":"chat-message","text":"x","session":".x"}`, protocol.CodeInvalidParams, "session name"},
		{`{"sensor":"chat-message","text":"x","id":"a b"}`, protocol.CodeInvalidParams, ":id"},
		{`{"sensor":"chat-message","text":"x","id":"a\nb"}`, protocol.CodeInvalidParams, ":id"},
		{`{"type":"request","sensor":"chat-message","text":"x"}`, protocol.CodeForbidden, "never actions"},
		{`{"sensor":"chat-message","text":"x","approved":true}`, protocol.CodeForbidden, ":approved"},
		{`{"sensor":"probe"}`, protocol.CodeForbidden, "kernel's own"},
		{`{"sensor":"post","text":"x"}`, protocol.CodeForbidden, "kernel's own"},
		{`{"sensor":"user-command","command":"look","text":"at it","said":"/look at it\nOn a buffer"}`, 0, ""},
		{`{"sensor":"user-command","command":"LOOK","said":"/Look"}`, 0, ""},
		{`{"sensor":"user-command","text":"x"}`, 0, ""},
		{`{"sensor":"user-command","command":"look","said":"/looks at it"}`, protocol.CodeInvalidParams, "begin with /look"},
		{`{"sensor":"user-command","command":"look","said":" "}`, protocol.CodeInvalidParams, "begin with /look"},
		{`{"sensor":"user-command","command":"look","said":"/"}`, protocol.CodeInvalidParams, "begin with /look"},
		{`{"sensor":"user-command","command":"lo ok"}`, protocol.CodeInvalidParams, "one word"},
		{`{"sensor":"user-command","command":"lo/ok"}`, protocol.CodeInvalidParams, "one word"},
		{`{"sensor":"user-command","said":"/look"}`, protocol.CodeInvalidParams, "belong to"},
		{`{"sensor":"chat-message","command":"look","text":"x"}`, protocol.CodeInvalidParams, "belong to"},
	}
	for _, c := range cases {
		var params protocol.Object
		if err := json.Unmarshal([]byte(c.json), &params); err != nil {
			t.Fatalf("%s: %v", c.json, err)
		}
		_, err := protocol.ParseEvent(params)
		if protocol.ErrorCode(err) != c.code || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v (%d), want %q (%d)", c.json, err, protocol.ErrorCode(err), c.says, c.code)
		}
	}
	long, _ := json.Marshal(map[string]string{"sensor": "chat-message", "text": strings.Repeat("x", protocol.TextLimit+1)})
	var params protocol.Object
	if err := json.Unmarshal(long, &params); err != nil {
		t.Fatal(err)
	}
	if _, err := protocol.ParseEvent(params); protocol.ErrorCode(err) != protocol.CodeTooLarge {
		t.Errorf("a text over the limit: %v", err)
	}
}

func TestObject(t *testing.T) {
	var o protocol.Object
	in := `{"b":1,"A":"x","type":"Request","nested":{"action":"call","n":1.5},"list":["x",{"k":true}],"no":false,"none":null,"empty":{},"target":""}`
	if err := json.Unmarshal([]byte(in), &o); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(o)
	if want := `{"b":1,"a":"x","type":"request","nested":{"action":"call","n":1.5},"list":["x",{"k":true}]}`; err != nil || string(out) != want {
		t.Errorf("%s, %v; want %s", out, err, want)
	}
	if o.Get("type") != protocol.Keyword("request") || o.Text("a") != "x" || o.Text("b") != "" {
		t.Errorf("values: %#v", o)
	}
	for _, bad := range []string{`[]x`, `{"a":1,"A":2}`, `"x"`, `{"a":1e999}`} {
		var o protocol.Object
		if err := json.Unmarshal([]byte(bad), &o); err == nil {
			t.Errorf("%s was read as %#v", bad, o)
		}
	}
}

func TestSessionBuffers(t *testing.T) {
	for _, name := range []string{"main", "work", "a b.c_d-1", "März", strings.Repeat("x", 64)} {
		if got, ok := protocol.BufferSession(protocol.SessionBuffer(name)); !ok || got != name {
			t.Errorf("%q: %q %v", name, got, ok)
		}
	}
	for _, name := range []string{"", ".x", "a/b", " a", "a ", "a*b", strings.Repeat("x", 65), "a\nb", "a\x00", "\xff"} {
		if protocol.ValidSession(name) {
			t.Errorf("%q counts as a session's name", name)
		}
	}
	for _, buffer := range []string{"*scratch*", "*org-agent-chat", "*org-agent-chat: *", "*org-agent-chat: main*", "org-agent-chat"} {
		if name, ok := protocol.BufferSession(buffer); ok {
			t.Errorf("%q counts as the buffer of %q", buffer, name)
		}
	}
}

func TestErrorsKeepTheirCause(t *testing.T) {
	cause := errors.New("cause")
	err := protocol.Errorf(protocol.CodeStorage, "keep it: %w", cause)
	if !errors.Is(err, cause) || protocol.ErrorCode(err) != protocol.CodeStorage || err.Error() != "keep it: cause" {
		t.Errorf("%v, %d", err, protocol.ErrorCode(err))
	}
	if protocol.ErrorCode(cause) != protocol.CodeInternal || protocol.ErrorCode(nil) != 0 {
		t.Error("codes of other errors")
	}
}

// What the wire's JSON cannot tell apart comes back from the exact form.
func TestExactObject(t *testing.T) {
	want := protocol.ExactObject{
		{Key: "Case", Value: protocol.Keyword("k")}, {Key: "colon", Value: ":k"}, {Key: "quote", Value: "':k"},
		{Key: "float", Value: 1.0}, {Key: "tiny", Value: 1e-300}, {Key: "integer", Value: int64(1)},
		{Key: "no", Value: false}, {Key: "null", Value: nil}, {Key: "empty", Value: protocol.Object{}}, {Key: "none", Value: []any{}},
		{Key: "nested", Value: []any{protocol.Object{{Key: "type", Value: "text <b>"}}}},
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got protocol.ExactObject
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s, %v\nis %#v", text, err, got)
	}
	for _, bad := range []any{5, []string{"x"}, struct{}{}, math.NaN()} {
		if text, err := json.Marshal(protocol.ExactObject{{Key: "x", Value: bad}}); err == nil {
			t.Errorf("%#v was written as %s", bad, text)
		}
	}
	if text, err := json.Marshal(protocol.Object{{Key: "x", Value: 1.0}, {Key: "n", Value: 5}}); err != nil || string(text) != `{"x":1,"n":5}` {
		t.Errorf("the wire's form is %s, %v", text, err)
	}
}
